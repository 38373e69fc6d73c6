"""`python scripts/release_check.py [STEP ...]`: is what we would publish whole? Without a step, all but the last.

build    sdist and wheel into dist/
install  the wheel into an empty environment without extras; the command answers, torch is not there
test     the light half of the suite (drawing to execution) in that environment, against the installed wheel
sbom     what was installed, as CycloneDX JSON beside the wheel
audit    pip-audit over it (needs the network; said when it cannot be reached)
lowest   not by default: an environment with the lowest versions that pyproject allows, and the light half again
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).parents[1]
WORK = ROOT / "build" / "release"
LIGHT = ["structures", "formats", "algorithms", "metrics", "drawing", "execution"]
TESTING = ["pytest>=8", "hypothesis>=6.100", "networkx>=3.2"]
STEPS = ("build", "install", "test", "sbom", "audit")


def call(*words: object, **options) -> None:
    """Run a command and stop everything when it fails."""
    subprocess.run([str(word) for word in words], check=True, cwd=options.pop("cwd", ROOT), **options)


def fresh(name: str) -> Path:
    """A new empty environment; returns its interpreter."""
    folder = WORK / name
    shutil.rmtree(folder, ignore_errors=True)
    venv.create(folder, with_pip=True)
    return folder / "bin" / "python"


def build() -> None:
    """Sdist and wheel."""
    python = fresh("builder")
    shutil.rmtree(ROOT / "dist", ignore_errors=True)
    call(python, "-m", "pip", "install", "-q", "build")
    call(python, "-m", "build", "--outdir", ROOT / "dist", stdout=subprocess.DEVNULL)
    print("release-check: built", *sorted(path.name for path in (ROOT / "dist").iterdir()), flush=True)


def wheel() -> Path:
    """The one wheel in dist/."""
    (found,) = (ROOT / "dist").glob("*.whl")
    return found


def install() -> None:
    """An empty environment, the wheel, no extras."""
    python = fresh("bare")
    call(python, "-m", "pip", "install", "-q", wheel())
    call(python.with_name("groundling"), "--version", cwd=WORK)
    code = "import groundling.metrics, groundling.execution, importlib.util as u; assert u.find_spec('torch') is None"
    call(python, "-c", code, cwd=WORK)
    print("release-check: the wheel works in an empty environment, without torch", flush=True)


def test(name: str = "bare") -> None:
    """Tests are copied away from the sources, so that the installed package is what they meet."""
    python = WORK / name / "bin" / "python"
    call(python, "-m", "pip", "install", "-q", *TESTING)
    away = WORK / f"tests-{name}"
    shutil.rmtree(away, ignore_errors=True)
    shutil.copytree(ROOT / "tests", away / "tests")
    for also in ("docs", "fuzz"):
        shutil.copytree(ROOT / also, away / also)
    shutil.copy(ROOT / "pyproject.toml", away)
    folders = [f"tests/{floor}" for floor in LIGHT]
    check = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    call(*check, *folders, cwd=away, env={**os.environ, "PYTHONPATH": ""})
    call(python, "-m", "pip", "install", "-q", "pyseccomp")  # the extra `programs`: what the sandbox needs
    call(*check, "tests/execution", cwd=away, env={**os.environ, "PYTHONPATH": ""})


def sbom() -> None:
    """The bill of materials of the bare environment."""
    python, out = WORK / "bare" / "bin" / "python", wheel().with_suffix(".cdx.json")
    with open(out, "w") as file:
        call(python, ROOT / "scripts" / "sbom.py", stdout=file)
    print(f"release-check: bill of materials in {out.relative_to(ROOT)}", flush=True)


def audit() -> None:
    """In an environment of its own, over what the bare one holds."""
    listed = WORK / "installed.txt"
    bare = WORK / "bare" / "bin" / "python"
    frozen = subprocess.run(
        [str(bare), "-m", "pip", "freeze", "--exclude", "groundling"], capture_output=True, text=True, check=True
    )
    listed.write_text(frozen.stdout)
    python = fresh("auditor")
    call(python, "-m", "pip", "install", "-q", "pip-audit")
    words = [str(python), "-m", "pip_audit", "--no-deps", "--disable-pip", "-f", "json", "-r", str(listed)]
    done = subprocess.run(words, capture_output=True, text=True)
    try:
        found = json.loads(done.stdout)["dependencies"]
    except (ValueError, KeyError):
        found = []
    unknown = [one["name"] for one in found if "skip_reason" in one]
    weak = [f"{one['name']} {one['version']}: {one['vulns']}" for one in found if one.get("vulns")]
    if weak:
        sys.exit("release-check: known weaknesses:\n" + "\n".join(weak))
    if len(unknown) == len(found):
        print("release-check: NOT AUDITED: the advisory service cannot be reached from here; audit before publishing")
    else:
        print(f"release-check: {len(found) - len(unknown)} packages audited, no known weakness; not known: {unknown}")


def lowest() -> None:
    """`numpy>=1.26` becomes `numpy==1.26.*`, and so on."""
    with open(ROOT / "pyproject.toml", "rb") as file:
        wanted = tomllib.load(file)["project"]["dependencies"]
    pins = [re.sub(r">=([0-9.]+)$", r"==\1.*", one) for one in wanted]
    python = fresh("lowest")
    call(python, "-m", "pip", "install", "-q", *pins)
    call(python, "-m", "pip", "install", "-q", "--no-deps", wheel() if (ROOT / "dist").is_dir() else ROOT)
    print("release-check: lowest versions:", ", ".join(pins), flush=True)
    test("lowest")


def main(steps: list[str]) -> None:
    """Do the steps in order."""
    WORK.mkdir(parents=True, exist_ok=True)
    for step in steps or STEPS:
        {"build": build, "install": install, "test": test, "sbom": sbom, "audit": audit, "lowest": lowest}[step]()
    print("release-check: fine", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
