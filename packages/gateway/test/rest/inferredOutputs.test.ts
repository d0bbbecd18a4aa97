import { listTools } from '@petstore/testing/mcpMessages';
import { initTRPC } from '@trpc/server';
import { expect, it, vi } from 'vitest';
import { z } from 'zod';
import { createGateway, type GatewayMeta, type OutputSchemas } from 'trpc-gateway';
import { mcp } from 'trpc-gateway/mcp';
import type { OpenApiDocument } from '../openApi.ts';

const t = initTRPC.meta<GatewayMeta>().create();
const pet = { id: 1, name: 'Rex' };
const Pet = z.object({ id: z.int() }).meta({ id: 'Pet' });
const router = t.router({
  get: t.procedure.meta({ mcp: { description: 'Returns the pet.' } }).query(() => pet),
  described: t.procedure.output(Pet).query(() => pet),
  remove: t.procedure.mutation(() => {}),
  find: t.procedure.meta({ mcp: { description: 'Finds the pet.' } }).query(() => undefined),
  changes: t.procedure.meta({ openapi: { path: '/changes' } }).subscription(async function* () {
    yield pet;
  }),
  ticks: t.procedure.subscription(async function* () {
    yield 1;
  }),
});

const outputs: OutputSchemas = {
  version: 1,
  procedures: {
    get: { $ref: '#/$defs/Pet' },
    described: { type: 'string' },
    remove: { not: {} },
    find: { anyOf: [{ $ref: '#/$defs/Pet' }, { not: {} }] },
    changes: { anyOf: [{ $ref: '#/$defs/Pet' }, { type: 'null' }] },
    ticks: { type: 'number' },
  },
  $defs: {
    Pet: {
      type: 'object',
      properties: { id: { type: 'number' }, name: { type: 'string' }, mother: { $ref: '#/$defs/Pet' } },
      required: ['id', 'name'],
    },
  },
};

const create = (given: OutputSchemas, served = router) =>
  createGateway({
    router: served,
    createContext: () => ({}),
    document: { title: 'Pets', version: '1' },
    openapi: true,
    mcp: mcp(),
    outputs: given,
  });

it('the document describes outputs without a schema by their types, marked as inferred, with the names of types', async () => {
  const gateway = await create(outputs);
  const { components, paths } = (await gateway.document()) as unknown as OpenApiDocument;
  const responseOf = (path: string, method: 'get' | 'post') => paths?.[path]?.[method]?.responses;
  const json = (schema: object) => ({ '200': { content: { 'application/json': { schema } } } });
  // `.output()` wins, and keeps its name.
  expect(responseOf('/described', 'get')).toMatchObject(json({ $ref: '#/components/schemas/Pet' }));
  expect(responseOf('/get', 'get')).toMatchObject(
    json({ $ref: '#/components/schemas/Pet2', 'x-inferred': true }),
  );
  expect(components?.schemas?.['Pet2']).toMatchObject({
    properties: { mother: { $ref: '#/components/schemas/Pet2' } },
  });
  expect(Object.keys(responseOf('/remove', 'post') ?? {})).toContain('204');
  expect(Object.keys(responseOf('/find', 'get') ?? {})).toEqual(expect.arrayContaining(['200', '204']));
  expect((await gateway.fetch(new Request('http://127.0.0.1/v1/find'))).status).toBe(204);
  expect(responseOf('/changes', 'get')).toMatchObject({
    '200': { content: { 'text/event-stream': { schema: { 'x-inferred': true } } } },
  });
  const events = await gateway.fetch(new Request('http://127.0.0.1/v1/changes'));
  expect(await events.text()).toContain(`data: ${JSON.stringify(pet)}`);
  // Without the type of its events, `openapi: true` leaves a subscription out.
  expect(await (await gateway.fetch('http://127.0.0.1/v1/ticks')).text()).toContain('data: 1');
});

it('a tool has the schema of its output by its types', async () => {
  const gateway = await create(outputs);
  const tools = await listTools(gateway);
  // A client would reject a result without an object.
  expect(tools.find(({ name }) => name === 'find')).not.toHaveProperty('outputSchema');
  const tool = tools.find(({ name }) => name === 'get');
  expect(tool?.outputSchema).toEqual({
    type: 'object',
    properties: { id: { type: 'number' }, name: { type: 'string' }, mother: { $ref: '#/$defs/Pet' } },
    required: ['id', 'name'],
    $defs: { Pet: outputs.$defs['Pet'] },
  });
});

it('outputs of a procedure whose metadata is invalid are not of another router', async () => {
  const printed = vi.spyOn(console, 'error').mockImplementation(() => {});
  const get = t.procedure.meta({ openapi: { contentType: ['x'] } as object }).query(() => pet);
  const created = create({ ...outputs, procedures: { get: {} } }, t.router({ get }) as never);
  await expect(created).rejects.toThrow('"get"');
  expect(printed).not.toHaveBeenCalled();
});

it('outputs of another router are one line at start', async () => {
  const printed = vi.spyOn(console, 'error').mockImplementation(() => {});
  await create({ ...outputs, procedures: { ...outputs.procedures, gone: {} } });
  expect(printed.mock.calls.flat()).toEqual([
    'trpc-gateway: the option outputs describes procedures that the router does not have: gone. Run trpc-gateway-typegen outputs again.',
  ]);
  printed.mockReset();
});

it('outputs of another version are a clear error', async () => {
  await expect(create({ ...outputs, version: 2 })).rejects.toThrow(
    /outputs.*what trpc-gateway-typegen outputs of this version writes/,
  );
});
