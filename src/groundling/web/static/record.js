// The microphone: a recording becomes a WAV file in the form, as if it had been dropped there.
'use strict';

const LONGEST = 20000; // milliseconds

function wav(samples, rate) {
  const view = new DataView(new ArrayBuffer(44 + 2 * samples.length));
  const text = (at, letters) => [...letters].forEach((letter, i) => view.setUint8(at + i, letter.charCodeAt(0)));
  text(0, 'RIFF');
  view.setUint32(4, 36 + 2 * samples.length, true);
  text(8, 'WAVEfmt ');
  view.setUint32(16, 16, true);
  view.setUint16(20, 1, true); // whole numbers
  view.setUint16(22, 1, true); // one channel
  view.setUint32(24, rate, true);
  view.setUint32(28, 2 * rate, true);
  view.setUint16(32, 2, true);
  view.setUint16(34, 16, true);
  text(36, 'data');
  view.setUint32(40, 2 * samples.length, true);
  samples.forEach((value, i) => view.setInt16(44 + 2 * i, Math.max(-1, Math.min(1, value)) * 32767, true));
  return new File([view], 'recording.wav', {type: 'audio/wav'});
}

async function decode(parts) {
  const context = new AudioContext();
  const sound = await context.decodeAudioData(await new Blob(parts).arrayBuffer());
  await context.close();
  return wav(sound.getChannelData(0), sound.sampleRate);
}

async function record(button, form) {
  const stream = await navigator.mediaDevices.getUserMedia({audio: true});
  const recorder = new MediaRecorder(stream), parts = [];
  recorder.ondataavailable = (event) => parts.push(event.data);
  recorder.onstop = async () => {
    for (const track of stream.getTracks()) track.stop();
    button.textContent = 'Record';
    const held = new DataTransfer();
    held.items.add(await decode(parts));
    form.elements.sound.files = held.files;
    form.requestSubmit();
  };
  button.textContent = 'Stop';
  recorder.start();
  setTimeout(() => { if (recorder.state === 'recording') recorder.stop(); }, LONGEST - 500);
  return recorder;
}

for (const button of document.querySelectorAll('[data-record]')) {
  let recorder = null;
  button.onclick = async () => {
    if (recorder && recorder.state === 'recording') return recorder.stop();
    try {
      recorder = await record(button, button.form);
    } catch {
      const next = 'Allow the microphone for this page, or drop a file.';
      complain(button.closest('.panel'), {what: 'There is no microphone to record with.', where: '', next});
    }
  };
}
