// Without this script the page is still whole: it saves pictures, copies commands and lights matched nodes.
for (const button of document.querySelectorAll('[data-save]')) {
  button.onclick = () => {
    const svg = button.closest('figure').querySelector('svg');
    const link = document.createElement('a');
    link.href = 'data:image/svg+xml;charset=utf-8,' + encodeURIComponent(new XMLSerializer().serializeToString(svg));
    const name = (svg.querySelector('title') || {textContent: 'picture'}).textContent;
    link.download = name.toLowerCase().replace(/[^a-z0-9]+/g, '-').slice(0, 50) + '.svg';
    link.click();
  };
}
for (const button of document.querySelectorAll('[data-copy]')) {
  button.onclick = async () => {
    const code = button.parentNode.querySelector('code');
    try {
      await navigator.clipboard.writeText(code.textContent);
      button.textContent = 'Copied';
    } catch {
      getSelection().selectAllChildren(code);
      button.textContent = 'Selected';
    }
    setTimeout(() => { button.textContent = 'Copy'; }, 1500);
  };
}
function light(event) {
  const node = event.target.closest('[data-node]');
  const svg = node && node.closest('svg');
  for (const lit of document.querySelectorAll('.gl-lit')) lit.classList.remove('gl-lit');
  if (!svg || !node.dataset.match) return;
  node.classList.add('gl-lit');
  for (const other of svg.querySelectorAll('[data-node]'))
    if (other.dataset.node === node.dataset.match) other.classList.add('gl-lit');
}
document.addEventListener('mouseover', light);
document.addEventListener('click', light);
