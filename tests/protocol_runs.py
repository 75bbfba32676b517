"""Short ways to list and run cases of the protocol suites, for tests in every folder."""

from benchmarks.experiments.protocol import PROTOCOL_SUITES
from benchmarks.run import attempt
from benchmarks.suite import Request


def make_cases(template, num_episodes):
    """The cases of the template's suite."""
    return PROTOCOL_SUITES[template.suite].cases(Request(episodes=num_episodes, template=template))


def run_case(case, loaded):
    """One case, as its suite runs it."""
    return attempt(case, loaded, PROTOCOL_SUITES[case.suite].run)
