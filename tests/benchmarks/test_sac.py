import torch
from tiny_ant import SAC, make_sac

from benchmarks.expert.sac import Batch, Replay, Sac, member

ROW = 2 * SAC.observation_dim + SAC.action_dim + 2


def make_batch(num_seeds=2, num=6, seed=0):
    torch.manual_seed(seed)
    shapes = [(num, size) for size in (SAC.observation_dim, SAC.action_dim, SAC.observation_dim, 1, 1)]
    drawn = [torch.randn(num_seeds, *shape) for shape in (*shapes, (2 * num, SAC.action_dim))]
    drawn[4] = (drawn[4] > 0).float()
    return Batch(*drawn)


def seed_alone(sac, index):
    """A network of one seed with the tensors that seed `index` has among several."""
    alone = Sac(1, sac.params)
    picks = {"actor": [index], "log_entropy": [index]}
    twins = [index, sac.num_seeds + index]
    with torch.no_grad():
        for name, value in alone.state_dict().items():
            value.copy_(sac.state_dict()[name][picks.get(name.split(".")[0], twins)])
    return alone


def part(batch, index):
    return Batch(*(value[index : index + 1] for value in vars(batch).values()))


def test_stacked_seeds_learn_as_each_would_alone():
    sac, batch = make_sac(), make_batch()
    sac.loss(batch).backward()
    for index in range(2):
        alone = seed_alone(sac, index)
        alone.loss(part(batch, index)).backward()
        for name, parameter in alone.actor.named_parameters():
            stacked = dict(sac.actor.named_parameters())[name].grad[index]
            torch.testing.assert_close(parameter.grad[0], stacked, atol=1e-5, rtol=1e-4)
        for name, parameter in alone.critic.named_parameters():
            stacked = dict(sac.critic.named_parameters())[name].grad[[index, 2 + index]]
            torch.testing.assert_close(parameter.grad, stacked, atol=1e-5, rtol=1e-4)
        torch.testing.assert_close(alone.log_entropy.grad[0], sac.log_entropy.grad[index])


def test_the_loss_is_the_textbooks():
    """Bellman error against the lower target, soft value of new actions, and the entropy's surplus."""
    sac, batch = make_sac(1), make_batch(1)
    actor, target = member(sac.actor, 0), [member(sac.target, k) for k in (0, 1)]
    critic, entropy = [member(sac.critic, k) for k in (0, 1)], sac.log_entropy.exp().item()
    noise, next_noise = batch.noise[0].chunk(2)
    action, density = sampled(actor, batch.observations[0], noise)
    next_action, next_density = sampled(actor, batch.next_observations[0], next_noise)
    following = torch.minimum(*(plain(net, batch.next_observations[0], next_action) for net in target))
    wanted = batch.rewards[0] + 0.99 * batch.continues[0] * (following - entropy * next_density)
    errors = [plain(net, batch.observations[0], batch.actions[0]) - wanted for net in critic]
    value = torch.minimum(*(plain(net, batch.observations[0], action) for net in critic))
    expected = torch.stack(errors).square().mean() + (entropy * density - value).mean()
    expected = expected + entropy * (-density + 0.5 * SAC.action_dim).mean()
    torch.testing.assert_close(sac.loss(batch).detach(), expected)


def plain(net, *inputs):
    hidden = torch.cat(inputs, dim=-1)
    for k in range(SAC.num_layers):
        hidden = torch.nn.functional.gelu(
            hidden @ net[f"weights.{k}"] + net[f"biases.{k}"], approximate="tanh"
        )
        shape, affine = hidden.shape[-1:], (net[f"scales.{k}"], net[f"shifts.{k}"])
        hidden = torch.nn.functional.layer_norm(hidden, shape, *affine)
    return hidden @ net[f"weights.{SAC.num_layers}"] + net[f"biases.{SAC.num_layers}"]


def sampled(actor, observations, noise):
    mean, log_std = plain(actor, observations).chunk(2, dim=-1)
    normal = torch.distributions.Normal(mean, log_std.clamp(-5, 2).exp())
    squashed = torch.distributions.TransformedDistribution(normal, torch.distributions.TanhTransform())
    action = (mean + normal.scale * noise).tanh()
    raw = mean + normal.scale * noise
    slope = torch.distributions.TanhTransform().log_abs_det_jacobian(raw, action)
    assert squashed.event_shape == ()
    return action, (normal.log_prob(raw) - slope).sum(dim=-1, keepdim=True)


def test_replay_draws_only_what_a_seed_has_stored():
    replay = Replay(5, 2, 3, SAC, torch.device("cpu"))
    for tick in range(2):
        rows = torch.zeros(6, ROW)
        rows[:, 0] = torch.arange(6) + 10 * (tick + 1)
        replay.put(tick, rows)
    drawn = replay.draw(400).observations[..., 0]
    assert set(drawn[0].tolist()) == {10, 11, 12, 20, 21, 22}
    assert set(drawn[1].tolist()) == {13, 14, 15, 23, 24, 25}
