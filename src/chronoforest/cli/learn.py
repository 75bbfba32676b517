"""`chronoforest learn`, from recordings to a world that can be planned in; `chronoforest export`, that world
as a file for routing engines, robots and map programs."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Annotated

from tyro.conf import Positional, arg

from chronoforest.data.columns import Columns
from chronoforest.data.imports import ImportParams
from chronoforest.errors import InvalidParameter

Files = Annotated[Positional[tuple[str, ...]], arg(metavar="FILE…")]


def learn(
    files: Files,
    columns: Annotated[Columns, arg(name="")],
    params: Annotated[ImportParams, arg(name="")],
    name: str = "world",
    train: bool = False,
    quick: bool = False,
    overwrite: bool = False,
    add: bool = False,
    forget_before: str | None = None,
    both_ways: bool = False,
    one_way: bool = False,
    turn_round: bool = False,
) -> None:
    """Learn a world from recordings of your own, in seconds and without training, and keep it under a name.

    Args:
        files: CSV, Parquet, GPX, GeoJSON, KML and other files, folders or archives of them; none to continue
            with a world that exists.
        columns: which columns mean what.
        params: how recordings are cleaned and cut.
        name: of the world; NAME.npz, NAME.toml and runs/NAME are written.
        train: also train models, which verify motion and cross gaps. If it is stopped, the same command
            continues.
        quick: with --train, small models and short training.
        overwrite: replace a world that exists.
        add: add the recordings to a world that exists, imported as the earlier ones were, and report which
            ways are new and which nobody takes any more.
        forget_before: with --add, leave out recordings that were added before this day, such as 2026-05-01.
        both_ways: every way may be travelled in both directions; found from the recordings unless given.
        one_way: ways may be travelled only in the directions in which recordings went.
        turn_round: a stop may be left in any direction, not only onward from where it was reached.
    """
    _refuse_contradictions(files, add, both_ways, one_way)
    from chronoforest.cli.terminal import LINE_SECONDS, shown
    from chronoforest.presets.learning import add_files, change_lines, is_learned, learn_files, world_lines
    from chronoforest.presets.proposal import Ways

    lines: list[str] = []
    if train and not (add or overwrite) and is_learned(files, name):
        lines = [f"{name}: these recordings are learned already; its training continues"]
    elif files:
        with shown("learn", LINE_SECONDS) as watch:
            if add:
                added = add_files(files, name, _day(forget_before), watch)
                imported, lines = added.imported, [*change_lines(name, added)]
            else:
                ways = Ways(both_ways if both_ways or one_way else None, turn_round)
                imported = learn_files(files, name, columns, params, overwrite, watch, ways)
        lines = [
            f"{finding.check:<18} {finding.found}: {finding.done}"
            for finding in imported.findings
            if finding.done
        ] + lines
    for line in lines:
        print(line)
    for line in world_lines(name):
        print(line)
    print(f"{name} is ready: `chronoforest plan --preset {name} --starts … --goals …`")
    if train:
        from chronoforest.cli.train import everything
        from chronoforest.presets.options import TrainOptions

        everything(TrainOptions(name, quick=quick, resume=Path("runs", name).is_dir()))


def _refuse_contradictions(files: tuple[str, ...], add: bool, both_ways: bool, one_way: bool) -> None:
    if both_ways and one_way:
        raise InvalidParameter("--both-ways and --one-way exclude each other")
    if add and not files:
        raise InvalidParameter("--add needs recordings to take in: `chronoforest learn --add day2.csv`")


def _day(text: str | None) -> date | None:
    try:
        return None if text is None else date.fromisoformat(text)
    except ValueError:
        raise InvalidParameter(f"--forget-before takes a day as 2026-05-01, got {text!r}") from None


def export(
    file: Annotated[Path, Positional], preset: str, hour: int | None = None, overwrite: bool = False
) -> None:
    """Write the road network of a preset's recordings.

    Args:
        file: by its ending .osm or .osm.pbf (OSRM, Valhalla), .csv (OSRM's segment speeds), nav2.geojson,
            lif.json or .gpkg.
        preset: one of the named configurations, one of your own, or a road network's file.
        hour: the hour of the day whose speeds a .csv gets; all hours together unless given.
        overwrite: replace a file that exists.
    """
    from chronoforest.errors import CannotWrite

    if hour is not None and not 0 <= hour < 24:
        raise InvalidParameter(f"hour must be 0 to 23, got {hour}")
    if file.exists() and not overwrite:
        raise CannotWrite(f"{file} exists already; --overwrite replaces it")
    from chronoforest.exports.maps import check_ending, write_network
    from chronoforest.service.worlds import kept_router

    check_ending(file)
    network = kept_router(preset).network
    write_network(network, file, Path(preset).stem, hour)
    print(f"{file}: {len(network.position):,} states, {network.num_hops:,} hops")
