"""The folder list is the architecture: imports go down it only."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

FLOORS = [
    "cli",
    "web",
    "experiments",
    "reports",
    "systems",
    "worlds",
    "backbones",
    "neural",
    "training",
    "execution",
    "metrics",
    "algorithms",
    "formats",
    "structures",
    "drawing",
]
GROUND = {"errors", "names", "__init__"}  # single files under everything
SOURCE = Path(__file__).parents[2] / "src" / "groundling"
FILES = sorted(path for path in SOURCE.rglob("*.py"))


def imported_modules(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: use absolute imports"
            found |= {f"{node.module}.{alias.name}" for alias in node.names} | {str(node.module)}
    return {name for name in found if name.split(".")[0] == "groundling"}


def faults_of(path: Path) -> list[str]:
    relative = path.relative_to(SOURCE)
    floor = relative.parts[0].removesuffix(".py")
    if floor in GROUND or floor == "__main__":
        height = len(FLOORS) if floor in GROUND else -1
    elif floor in FLOORS:
        height = FLOORS.index(floor)
    else:
        return [f"{relative}: {floor!r} is no floor of the house"]
    faults = []
    for name in imported_modules(path):
        parts = name.split(".")[1:]
        if not parts or parts[0] not in FLOORS:
            continue
        if FLOORS.index(parts[0]) < height:
            faults.append(f"{relative}: imports {name}, which stands above it")
        if floor == "systems" == parts[0] and len(parts) > 2 and parts[1] != relative.parts[1]:
            # Another system is reached through its front door only: groundling.systems.NAME.
            public = SOURCE / "systems" / parts[1] / "__init__.py"
            if (
                SOURCE / "systems" / parts[1] / f"{parts[2]}.py"
            ).exists() and f'"{parts[2]}"' not in public.read_text():
                faults.append(f"{relative}: imports the insides of another system, {name}")
    return faults


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_imports_go_down(path: Path) -> None:
    assert faults_of(path) == []


def test_a_file_in_the_wrong_layer_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = tmp_path / "structures" / "wrong.py"
    wrong.parent.mkdir()
    wrong.write_text("from groundling.metrics import base\n")
    monkeypatch.setitem(globals(), "SOURCE", tmp_path)
    assert "stands above it" in faults_of(wrong)[0]
    stray = tmp_path / "utils" / "helpers.py"
    stray.parent.mkdir()
    stray.write_text("")
    assert "is no floor" in faults_of(stray)[0]


def run_python(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("floor", FLOORS[FLOORS.index("execution") :])
def test_the_light_floors_never_load_torch(floor: str) -> None:
    modules = [
        ".".join(("groundling", *path.relative_to(SOURCE).with_suffix("").parts)).removesuffix(".__init__")
        for path in FILES
        if path.relative_to(SOURCE).parts[0] == floor
    ]
    code = f"import sys\nfor m in {modules!r}: __import__(m)\nprint('torch' in sys.modules)"
    assert run_python(code).strip() == "False"
