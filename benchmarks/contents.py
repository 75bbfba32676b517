"""What is shown of each of the paper's suites; `chronoforest report` finds it here."""

from __future__ import annotations

from functools import partial

from benchmarks.registry import SUITES
from benchmarks.report.calibration import calibration_fits
from benchmarks.report.cost import cost_tables
from benchmarks.report.directed import city_table, strait_table, verification_table
from benchmarks.report.figures import figure_maps
from benchmarks.report.growth import growth_tables
from benchmarks.report.hamiltonian import length_tables
from benchmarks.report.injection import injection_table
from benchmarks.report.lengths import task_lengths
from benchmarks.report.parts import part_tables
from benchmarks.report.stitch import success_tables
from benchmarks.report.sweeps import sweep_charts
from benchmarks.report.teleport import ablation_table
from benchmarks.report.theory import certificate_tables
from benchmarks.report.thin import thin_table
from benchmarks.report.yardsticks import yardstick_tables
from chronoforest.report.contents import Contents

CONTENTS = Contents(
    title="The paper's tables, from these records",
    suites=SUITES,
    exhibits={
        "stitch": success_tables,
        "hamiltonian": length_tables,
        "cost": cost_tables,
        "lengths": task_lengths,
        "teleport": ablation_table,
        "calibration": calibration_fits,
        "theory": certificate_tables,
        "injection": injection_table,
        "sweeps": sweep_charts,
        "figures": figure_maps,
        "parts": part_tables,
        "thin": thin_table,
        "thin-parts": partial(part_tables, name="thin-parts"),
        "strait": strait_table,
        "city": city_table,
        "verification": verification_table,
        "growth": growth_tables,
        "yardsticks": yardstick_tables,
    },
    command="python -m benchmarks run",
)
