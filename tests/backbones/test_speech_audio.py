"""Sound files of every kind give samples, or an error that names them."""

import itertools
from pathlib import Path

import numpy as np
import pytest

from groundling.backbones.log_mel import frame_energies, log_mel, mel_bank, normalised
from groundling.backbones.speech_audio import Entry, find_audio, pieces, read_audio
from groundling.errors import DataError, FormatError

soundfile = pytest.importorskip("soundfile")
pytest.importorskip("soxr")


def tone(seconds: float, rate: int = 16000, pitch: float = 440.0) -> np.ndarray:
    return (0.4 * np.sin(2 * np.pi * pitch * np.arange(int(seconds * rate)) / rate)).astype(np.float32)


@pytest.mark.parametrize(
    ("rate", "channels", "subtype", "suffix"),
    [
        (16000, 1, "PCM_16", "wav"),
        (8000, 1, "PCM_16", "wav"),
        (44100, 2, "PCM_24", "wav"),
        (48000, 2, "PCM_24", "flac"),
    ],
)
def test_any_rate_channels_and_depth_become_16_khz_mono(
    tmp_path: Path, rate: int, channels: int, subtype: str, suffix: str
) -> None:
    path = tmp_path / f"x.{suffix}"
    soundfile.write(path, np.tile(tone(1.0, rate)[:, None], (1, channels)), rate, subtype=subtype)
    heard = read_audio(path)
    assert abs(len(heard) - 16000) <= 2
    middle = slice(4000, 12000)
    assert np.abs(heard[: len(tone(1.0))][middle] - tone(1.0)[: len(heard)][middle]).max() < 0.02


def test_one_sample_is_sound(tmp_path: Path) -> None:
    soundfile.write(tmp_path / "x.wav", np.array([0.5], dtype=np.float32), 16000)
    assert len(read_audio(tmp_path / "x.wav")) == 1
    assert log_mel(read_audio(tmp_path / "x.wav")).shape == (1, 40)


def test_faults_name_the_file(tmp_path: Path) -> None:
    (tmp_path / "broken.wav").write_bytes(b"RIFF\x00\x00nothing")
    (tmp_path / "empty.wav").write_bytes(b"")
    soundfile.write(tmp_path / "none.wav", np.zeros(0, dtype=np.float32), 16000)
    soundfile.write(tmp_path / "nan.wav", np.array([np.nan] * 9, dtype=np.float32), 16000, subtype="FLOAT")
    for name, what in (
        ("broken", "not a readable"),
        ("empty", "not a readable"),
        ("none", "no sample"),
        ("nan", "not numb"),
    ):
        with pytest.raises(FormatError, match=rf"{name}\.wav.*{what}"):
            read_audio(tmp_path / f"{name}.wav")
    with pytest.raises(DataError, match=r"gone\.wav: no such"):
        read_audio(tmp_path / "gone.wav")


def test_pieces_are_short_cut_in_silence_and_lose_nothing(tmp_path: Path) -> None:
    sound = np.concatenate([np.concatenate([tone(0.8), np.zeros(3200, dtype=np.float32)]) for _ in range(10)])
    soundfile.write(tmp_path / "x.wav", sound, 16000, subtype="FLOAT")
    found = list(pieces(tmp_path / "x.wav", longest=3.0))
    assert np.array_equal(np.concatenate([piece.samples for piece in found]), sound)
    assert all(len(piece.samples) <= 48000 for piece in found) and len(found) > 3
    for before, after in itertools.pairwise(found):
        assert before.end == pytest.approx(after.start)
        assert 0.78 < after.start % 1.0 <= 1.0 or after.start % 1.0 == 0, "the cut is in the silence"


def test_manifests_and_folders(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    for name in ("b.wav", "deep/a.FLAC", "notes.txt"):
        (tmp_path / name).touch()
    assert [entry.audio.name for entry in find_audio(tmp_path)] == ["b.wav", "a.FLAC"]
    manifest = tmp_path / "m.jsonl"
    manifest.write_text('{"audio": "b.wav", "image": 3, "words": "b.TextGrid"}\n\n{"audio": "deep/a.FLAC"}\n')
    assert find_audio(manifest) == [
        Entry(tmp_path / "b.wav", 3, tmp_path / "b.TextGrid"),
        Entry(tmp_path / "deep" / "a.FLAC"),
    ]
    for line in ("no json", '{"image": 1}', '{"audio": "x", "image": -1}', "[1]"):
        manifest.write_text(line)
        with pytest.raises(FormatError, match=r"m\.jsonl:1: not a manifest line"):
            find_audio(manifest)
    manifest.write_text("\n")
    with pytest.raises(DataError, match="empty manifest"):
        find_audio(manifest)
    with pytest.raises(DataError, match="no sound file"):
        (tmp_path / "bare").mkdir()
        find_audio(tmp_path / "bare")


def test_log_mel_finds_the_pitch_and_the_time() -> None:
    sound = np.concatenate([np.zeros(8000, dtype=np.float32), tone(0.5, pitch=1000)])
    found = log_mel(sound)
    assert found.shape == (100, 40)
    assert found[:45].max() < found[55:].max() - 5
    centres = mel_bank(40).argmax(1) * 40.0  # Hz a bin
    assert abs(centres[found[75].argmax()] - 1000) < 100
    assert abs(normalised(found).mean()) < 1e-3 and normalised(found).std() == pytest.approx(1, abs=1e-3)
    assert frame_energies(sound)[:49].max() == 0 and frame_energies(sound)[60] == pytest.approx(0.08, rel=0.1)


def test_mel_bank_equals_whispers_own_filters() -> None:
    transformers = pytest.importorskip("transformers.audio_utils")
    theirs = transformers.mel_filter_bank(201, 80, 0.0, 8000.0, 16000, norm="slaney", mel_scale="slaney")
    assert np.abs(mel_bank(80) - theirs.T).max() < 1e-6
