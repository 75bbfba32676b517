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
    """Learn the ways of recordings of your own: a planner without any training, under a name.

    Args:
        files: CSV, Parquet, GPX, GeoJSON, KML and other files, folders or archives of them; none to go on
            with a world that is there.
        columns: which columns mean what.
        params: how recordings are cleaned and cut.
        name: what the world is to be called; NAME.npz, NAME.toml and runs/NAME are written.
        train: also train what only models can do: verify motion, cross gaps. Stopped, the same command goes
            on.
        quick: small models and short training.
        overwrite: replace a world that is there.
        add: take the recordings into the world that is there, and tell which ways are new and which are not
            taken any more; they are imported as those were.
        forget_before: with --add, leave out recordings that were taken in before a day, as 2026-05-01.
        both_ways: any way may be taken back; found from the recordings unless told.
        one_way: no way may be taken back but where recordings do.
        turn_round: a stop may be left in any direction, whichever it was reached in.
    """
    _refuse_contradictions(files, add, both_ways, one_way)
    from chronoforest.cli.terminal import LINE_SECONDS, shown
    from chronoforest.presets.learning import add_files, change_lines, is_learned, learn_files, world_lines
    from chronoforest.presets.proposal import Ways

    lines: list[str] = []
    if train and not (add or overwrite) and is_learned(files, name):
        lines = [f"{name}: these recordings are learned already; its training goes on"]
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
    print(f"{name}: can be planned in; `chronoforest plan --preset {name} --starts … --goals …`")
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
        hour: of the day, whose speeds a .csv has; those of all day unless given.
        overwrite: replace a file that is there.
    """
    from chronoforest.errors import CannotWrite

    if hour is not None and not 0 <= hour < 24:
        raise InvalidParameter(f"hour must be 0 to 23, got {hour}")
    if file.exists() and not overwrite:
        raise CannotWrite(f"{file} is there already; --overwrite replaces it")
    from chronoforest.exports.maps import check_ending, write_network
    from chronoforest.service.worlds import kept_router

    check_ending(file)
    network = kept_router(preset).network
    write_network(network, file, Path(preset).stem, hour)
    print(f"{file}: {len(network.position):,} states, {network.num_hops:,} hops")
