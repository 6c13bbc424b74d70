"""The repository itself: what its pages and files promise."""

import ast
import re
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
PACKAGES = ("schemas", "detectors", "sampling", "alerts", "streams", "dashboards", "demo")
BROUGHT_ALONG = {"mode", "markupsafe", "pydantic_core", "annotated_types"}
"""Parts of Faust, Jinja and pydantic that those document as theirs."""
KNOWN = {*PACKAGES, *BROUGHT_ALONG}
FOLDERS_WITH_A_MAP = (*PACKAGES, "tests", "docs")


def tracked() -> list[Path]:
    """Files that belong to the repository, relative to its root."""
    try:
        listed = subprocess.run(
            ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
            cwd=ROOT, capture_output=True, check=True, text=True,
        ).stdout  # fmt: skip
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("not a git checkout, so what belongs to it is not known")
    return [Path(name) for name in listed.split("\0") if name and (ROOT / name).is_file()]


def existing() -> set[str]:
    """Top-level files and folders, and the folders one level below the packages, tests and docs."""
    names = set()
    for path in tracked():
        names.add(path.name if len(path.parts) == 1 else f"{path.parts[0]}/")
        if path.parts[0] in FOLDERS_WITH_A_MAP and len(path.parts) > 2:
            names.add(f"{path.parts[0]}/{path.parts[1]}/")
    return names


def mapped() -> set[str]:
    """What the map in the README names."""
    block = readme().split("## Where things are", 1)[1].split("```", 2)[1]
    names: set[str] = set()
    parent = ""
    for line in block.strip("\n").splitlines():
        name = line.split()[0]
        if line.startswith("  "):
            names.add(parent + name)
        else:
            parent = name
            names.add(name)
    return names


def readme() -> str:
    """The front page."""
    return (ROOT / "README.md").read_text(encoding="utf-8")


def test_map_in_the_readme_names_all_that_exists() -> None:
    """A stranger finds every room, and no room that is gone."""
    assert existing() == mapped()


def test_links_between_pages_lead_somewhere() -> None:
    """No page points to a file that is not there."""
    pages = [path for path in tracked() if path.suffix == ".md"]
    links = [
        (page, target)
        for page in pages
        for target in re.findall(r"\]\((?!https?://|#|mailto:)([^)#\s]+)", (ROOT / page).read_text(encoding="utf-8"))
    ]
    broken = [f"{page}: {target}" for page, target in links if not (ROOT / page.parent / target).exists()]
    assert broken == []


def test_pages_named_in_code_exist() -> None:
    """A docstring that sends the reader to docs/x.md is kept."""
    named = {
        (str(path), page)
        for path in tracked()
        if path.suffix == ".py" and path.parts[0] in PACKAGES
        for page in re.findall(r"docs/[\w-]+\.md", (ROOT / path).read_text(encoding="utf-8"))
    }
    assert [f"{path}: {page}" for path, page in sorted(named) if not (ROOT / page).exists()] == []


@pytest.mark.parametrize("package", PACKAGES)
def test_every_package_ships_its_types(package: str) -> None:
    """Annotations are part of the package."""
    assert (ROOT / package / "py.typed").exists()


def test_source_files_stay_short() -> None:
    """About 120 lines, 250 at most: a longer one holds two things."""
    code = [path for path in tracked() if path.suffix == ".py" and path.parts[0] in PACKAGES]
    lengths = {str(path): len((ROOT / path).read_text(encoding="utf-8").splitlines()) for path in code}
    assert {name: length for name, length in lengths.items() if length > 260} == {}


def test_nothing_is_left_to_do_in_the_code() -> None:
    """No markers for later."""
    marker = "TO" + "DO"
    left = [
        str(path) for path in tracked() if path.suffix == ".py" and marker in (ROOT / path).read_text(encoding="utf-8")
    ]
    assert left == []


def test_outside_files_are_named_by_variables_alone() -> None:
    """Paths of one workplace appear in the developer's Makefile and the CI script only."""
    outside = re.compile(r"\.\./sha" + r"red\b|/wo" + r"rk/")
    texts = {".py", ".md", ".yaml", ".yml", ".toml", ".sql", ".html", ""}
    named = [
        str(path)
        for path in tracked()
        if path.suffix in texts and outside.search((ROOT / path).read_text(encoding="utf-8", errors="replace"))
    ]
    assert sorted({*named, ".ci/run", "Makefile"}) == [".ci/run", "Makefile"]


def test_every_dependency_is_pinned() -> None:
    """What is installed is what was tested."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    wanted = [*project["dependencies"], *extras["embedded"], *extras["registry"], *extras["dev"], "torch"]
    names = {re.split(r"[<>=;\[ ]", text)[0].lower() for text in wanted} - {"groundwatch"}
    constraints = (ROOT / "constraints.txt").read_text(encoding="utf-8").lower()
    pinned = set(re.findall(r"^([\w.-]+)==", constraints, re.MULTILINE))
    assert names - pinned == set()
    assert "torch==2.13.0" in constraints


def test_every_import_is_a_declared_dependency() -> None:
    """A fresh installation has what the code imports; test surroundings often have more."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    optional = (extras[name] for name in ("embedded", "models", "local-llm", "openai", "registry", "reports", "train"))
    wanted = [*project["dependencies"], *(text for extra in optional for text in extra)]
    declared = {distribution_name(re.split(r"[<>=;\[ ]", text)[0]) for text in wanted}
    providers = packages_distributions()
    undeclared = {
        f"{path}: {name}"
        for path in tracked()
        if path.suffix == ".py" and path.parts[0] in PACKAGES
        for name in imported(ROOT / path) - sys.stdlib_module_names - KNOWN
        if not declared & {distribution_name(provider) for provider in providers.get(name, ())} - {""}
    }
    assert undeclared == set()


def imported(path: Path) -> set[str]:
    """Top-level names of all modules that a file imports."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module.split(".")[0])
    return names


def distribution_name(name: str) -> str:
    """A distribution's name in its normal form."""
    return re.sub(r"[-_.]+", "-", name).lower()


def test_compose_publishes_to_this_machine_only() -> None:
    """No port is open to the network, every image has a version, every service that stays up has a health check."""
    services = yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))["services"]
    ports = [port for service in services.values() for port in service.get("ports", [])]
    assert ports
    assert [port for port in ports if not port.startswith("127.0.0.1:")] == []
    assert [name for name, service in services.items() if not re.search(r":\d", service["image"])] == []
    stays_up = {name: service for name, service in services.items() if service["restart"] != "no"}
    assert [name for name, service in stays_up.items() if "healthcheck" not in service] == []


def test_compose_sets_known_settings_only() -> None:
    """A misspelt variable would stop the worker at its start."""
    from streams.settings.catalogue import entries  # noqa: PLC0415  the other tests here need no import

    services = yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))["services"]
    known = {entry.variable for entry in entries()}
    dockerfile = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    used = {*services["worker"]["environment"], *re.findall(r"(GROUNDWATCH_\w+)=", dockerfile)}
    assert used - known == set()


def test_actions_are_pinned_by_commit() -> None:
    """A moved tag must not change what CI runs."""
    used = re.findall(r"uses: (\S+)", (ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8"))
    assert used
    assert [action for action in used if not re.search(r"@[0-9a-f]{40}$", action)] == []
