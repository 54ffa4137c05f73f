from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from insync.model import Model, UserError
from insync.model.catalogue import BUILT_IN, find_model, model_reference

SOURCE = """
from __future__ import annotations
from insync.model import Bool, Model, State, action

class Lamp(Model):
    def declare(self, b):
        return State(on=Bool)

    @action
    def press(self, s):
        s.on = ~s.on

class Kip320(Lamp):
    pass

class Bulb:
    pass
"""


@pytest.fixture
def lamp(tmp_path: Path) -> Path:
    path = tmp_path / "my lamp.py"
    path.write_text(SOURCE)
    return path


@pytest.mark.parametrize("name", sorted(BUILT_IN))
def test_a_model_that_comes_with_insync_is_found_by_its_name(name: str) -> None:
    kind = find_model(name)
    assert kind.name == name
    assert model_reference(kind()) == name


def test_a_model_in_a_file_is_found_and_found_again(lamp: Path) -> None:
    kind = find_model(f"{lamp}:Lamp")
    assert issubclass(kind, Model)
    assert (kind.name, len(kind().program.actions)) == ("lamp", 1)
    assert model_reference(kind()) == f"{lamp}:Lamp"
    assert find_model(model_reference(kind())) is kind


@pytest.mark.parametrize("folder", ["two words", "a:b", "C:", "lamp.py", "Größe", "#1"])
def test_a_model_is_found_in_a_folder_of_any_name(lamp: Path, folder: str) -> None:
    elsewhere = lamp.parent / folder
    elsewhere.mkdir()
    file = lamp.rename(elsewhere / lamp.name)
    assert find_model(f"{file}:Lamp").__name__ == "Lamp"


def test_a_file_that_was_edited_is_loaded_again(lamp: Path) -> None:
    old = find_model(f"{lamp}:Lamp")
    lamp.write_text(SOURCE.replace("State(on=Bool)", "State(up=Bool)").replace("s.on", "s.up"))  # of the same size
    new = find_model(f"{lamp}:Lamp")
    assert [list(one().state.fields) for one in (old, new)] == [["on"], ["up"]]
    again = [pickle.loads(pickle.dumps(one)) for one in (old, new)]  # noqa: S301 -- pickled here
    assert again == [old, new]
    lamp.write_text(SOURCE)
    assert find_model(f"{lamp}:Lamp") is old


def test_a_user_s_model_that_is_named_like_a_known_one_stays_the_user_s(lamp: Path) -> None:
    kind = find_model(f"{lamp}:Kip320")
    assert kind.name == "kip320"
    assert model_reference(kind()) == f"{lamp}:Kip320"


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        (
            "kip32",
            r"There is no model 'kip32'\. Did you mean 'kip320'\? Name a model of your own as path/to/file",
        ),
        ("zab", r"There is no model 'zab'\. Known: async_isr, .* Name a model of your own as"),
        ("kraft_996", r"The model kraft_996 is gone; use kraft --release 4\.1 in its place\."),
        ("{lamp}", r"my lamp\.py names a file but no model in it; write .*my lamp\.py:Lamp\."),
        ("{lamp}:Lmap", r"my lamp\.py defines no model 'Lmap'\. Did you mean 'Lamp'\?"),
        (
            "{lamp}:Model",
            r"defines no model 'Model'\. Model there is imported; name the file of insync\.model\.define\.",
        ),
        (
            "{lamp}:Bulb",
            r"defines no model 'Bulb'\. Bulb there is a class without the base Model; write `class Bulb\(Mod",
        ),
        (
            "{lamp}x.py:Lamp",
            r"my lamp\.pyx\.py: there is no such file; give the path of the Python file",
        ),
    ],
)
def test_a_wrong_reference_says_what_to_write(lamp: Path, reference: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        find_model(reference.format(lamp=lamp))


def test_a_file_that_cannot_be_read_is_told(lamp: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(path: Path) -> bytes:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "read_bytes", refused)  # who runs the tests may be allowed to read everything
    with pytest.raises(UserError, match=r"my lamp\.py cannot be loaded: PermissionError: .*Permission denied"):
        find_model(f"{lamp}:Lamp")


@pytest.mark.parametrize(
    ("reference", "meant"),
    [
        ("two_lamps", "two_lamps.py:TwoLamps"),
        ("two_lamps:Base", "two_lamps.py:Base"),
        ("two_lamps:base", "two_lamps.py:Base"),
        ("two_lamps.Base", "two_lamps.py:Base"),
        ("folder/lamp.First", "folder/lamp.py:First"),
        ("folder/lamp", "folder/lamp.py:First"),
        ("sorts", "sorts.py:Lock"),
    ],
)
def test_a_name_that_is_a_file_here_is_told_with_its_class(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reference: str, meant: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    text = "import nowhere\nclass Plain: pass\nclass Base(Model): pass\nclass TwoLamps(Base): pass\n"
    (tmp_path / "two_lamps.py").write_text(text)  # which cannot be loaded, and is not
    (tmp_path / "folder" / "lamp.py").write_text("class First(Model): pass\nclass Second(Model): pass\n")
    (tmp_path / "sorts.py").write_text("class Client(Index): pass\nclass Lock(Model):\n    def declare(self): pass\n")
    with pytest.raises(UserError, match=f"There is no model '{reference}'. Did you mean '{meant}'\\?"):
        find_model(reference)


@pytest.mark.parametrize("text", ["", "x = 1", "class Plain: pass", "not Python", "\0"])
def test_a_file_without_a_class_that_has_a_base_is_no_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lamp.py").write_text(text)
    with pytest.raises(UserError, match=r"There is no model 'lamp'\. Known: async_isr"):
        find_model("lamp")


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (
            "import nowhere_to_be_found",
            r"wrong\.py:1: cannot be loaded: ModuleNotFoundError: No module named '[^']*'$",
        ),
        ("x = 1\ny = x.z\n", r"wrong\.py:2: cannot be loaded: AttributeError: .* no attribute 'z'$"),
        ("def broken(:\n", r"wrong\.py:1: cannot be loaded: SyntaxError: [^(]*$"),
        ("\nfrom insync.model import Int\nInt(3, 1)\n", r"wrong\.py:3: Int\(3, 1\) has no value"),
    ],
)
def test_a_file_that_cannot_be_loaded_names_the_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "wrong.py"
    path.write_text(source)
    for file in (path, path, path.name):  # a failed load leaves nothing behind
        with pytest.raises(UserError, match=message):
            find_model(f"{file}:Anything")


def test_a_file_without_a_model_is_told_what_one_is(tmp_path: Path) -> None:
    (tmp_path / "empty.py").write_text("x = 1\n")
    with pytest.raises(
        UserError, match=r"defines no model 'Lock'\. A model is a class with the base Model: class Lock"
    ):
        find_model(f"{tmp_path}/empty.py:Lock")


def test_a_file_may_import_its_neighbours_and_is_named_by_its_relative_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "insync_test_neighbour.py").write_text("LAST = 3\n")
    (tmp_path / "near.py").write_text(
        "from insync_test_neighbour import LAST\n"
        "from insync.model import Int, Model, State\n"
        "class Near(Model):\n"
        "    def declare(self, b): return State(n=Int(0, LAST))\n"
    )
    monkeypatch.chdir(tmp_path)
    model = find_model(f"{tmp_path}/near.py:Near")()
    assert model_reference(model) == "near.py:Near"
    monkeypatch.chdir("/")
    assert find_model(model_reference(model)) is type(model)
