import { expect, it, vi } from 'vitest';
import { z } from 'zod';
import { t, testGateway } from '../testing/testGateway.ts';

async function post(schema: z.ZodType, node: unknown) {
  const run = vi.fn<(node: unknown) => void>();
  const gateway = await testGateway(
    t.router({
      save: t.procedure
        .meta({ openapi: { method: 'POST', path: '/nodes' } })
        .input(z.object({ node: schema }))
        .output(z.void())
        .mutation(({ input }) => run(input.node)),
    }),
  );
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify({ node });
  const { status } = await gateway.fetch('http://localhost/v1/nodes', { method: 'POST', headers, body });
  return { status, node: run.mock.calls[0]?.[0] };
}

const at = '2026-01-01T00:00:00Z';

it.each(['a', 'b'])(
  'a recursive union with dates checks each of 17 nested nodes of kind %s at most 17 times, not 2^17 times',
  async (kind) => {
    const check = vi.fn(() => true);
    const kindOf = (name: string) => z.literal(name).refine(check);
    const Node: z.ZodType = z.lazy(() =>
      z.union([
        z.object({ kind: kindOf('a'), child: Node.optional(), at: z.date().optional() }),
        z.object({ kind: kindOf('b'), child: Node.optional(), at: z.date().optional() }),
      ]),
    );
    let node: object = { kind, at };
    for (let depth = 1; depth < 17; depth += 1) node = { kind, child: node };

    const result = await post(Node, node);

    expect(result.status).toBe(204);
    expect(check.mock.calls.length).toBeLessThanOrEqual(17 * 17);
    let deepest = result.node as { child?: object };
    while (deepest.child) deepest = deepest.child;
    expect(deepest).toEqual({ kind, at: new Date(at) });
  },
);

it.each([
  ['numbers', [0, 1, 2, 3, 4]],
  ['numbers and a date', [0, 1, 2, 3, 4, at]],
])('a recursive union does not check %s at depth 90 once per level', async (_, items) => {
  const check = vi.fn(() => true);
  const Node: z.ZodType = z.lazy(() => z.union([z.number().refine(check), z.date(), z.array(Node)]));
  const wrapped = (deepest: unknown) => {
    let node = deepest;
    for (let depth = 1; depth < 90; depth += 1) node = [node];
    return node;
  };

  const result = await post(Node, wrapped(items));

  const read = items.map((item) => (item === at ? new Date(at) : item));
  expect(result).toEqual({ status: 204, node: wrapped(read) });
  expect(check.mock.calls.length).toBeLessThanOrEqual(2 * items.length);
});

it('a member of an intersection that does not accept a value leaves its dates to the next member', async () => {
  const counts = z.object({ name: z.string() }).catchall(z.number());
  const schema = z.object({ name: z.string() }).and(counts.or(z.looseObject({ at: z.date() })));

  const result = await post(schema, { name: 'Rex', at });

  expect(result).toEqual({ status: 204, node: { name: 'Rex', at: new Date(at) } });
});
