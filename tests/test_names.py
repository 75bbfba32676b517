import pytest

from chronoforest.names import value_in


def test_a_value_is_found_on_the_path_and_in_the_current_folder(monkeypatch, tmp_path):
    (tmp_path / "beside_us.py").write_text("HERE = 7\n")
    monkeypatch.syspath_prepend("elsewhere")  # so that the path is as before afterwards
    monkeypatch.chdir(tmp_path)
    assert value_in("beside_us", "HERE") == 7
    assert value_in("math", "pi") > 3


@pytest.mark.parametrize("module", ["", ".", "no_such_module", "math.nothing", "a/b.py"])
def test_what_is_not_there_is_none(module):
    assert value_in(module, "HERE") is None
    assert value_in("math", "no_such_name") is None


def test_a_module_that_cannot_be_imported_says_why(monkeypatch, tmp_path):
    (tmp_path / "with_a_mistake.py").write_text("import no_such_library\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="no_such_library"):
        value_in("with_a_mistake", "HERE")
