import { bearer, createGateway, type Gateway, type OutputSchemas } from 'trpc-gateway';
import type { GatewayMeta, RestMeta } from 'trpc-gateway/procedures';
import { temporaryFiles } from 'trpc-gateway/node';
import { type AnyTRPCProcedure, type AnyTRPCRouter, initTRPC, TRPCError } from '@trpc/server';
import * as errors from '../errors/declaredErrors.ts';
import * as hooks from '../hooks/routers.ts';
import * as inputs from '../rest/inputPlaces.ts';
import * as outputs from '../rest/outputs.ts';
import * as standardSchema from '../rest/standardSchema.ts';
import { notesRouter } from '../credentials/startCredentials.ts';
import * as uploads from '../uploads/routers.ts';

const t = initTRPC.create({ isDev: false });

const isRouter = (value: unknown): value is AnyTRPCRouter =>
  typeof value === 'object' && value !== null && '_def' in value && 'createCaller' in value;

/** Returns the procedure with a prefix before its REST path. */
function below(prefix: string, procedure: AnyTRPCProcedure): AnyTRPCProcedure {
  const meta = procedure._def.meta as GatewayMeta | undefined;
  if (typeof meta?.openapi !== 'object') return procedure;
  const openapi: RestMeta = {
    summary: `Shape ${prefix.slice(1)}`,
    ...meta.openapi,
    path: `${prefix}${meta.openapi.path}` as `/${string}`,
  };
  const prefixed = (...input: Parameters<typeof procedure>) => procedure(...input);
  return Object.assign(prefixed, {
    _def: { ...procedure._def, meta: { ...meta, openapi } },
  }) as AnyTRPCProcedure;
}

/** Returns a router of the routers that a module exports, by name. The name is also the prefix of their paths, which are not unique. */
const shapesOf = (module: object) =>
  Object.fromEntries(
    Object.entries(module)
      .filter((entry): entry is [string, AnyTRPCRouter] => isRouter(entry[1]))
      .map(([shape, router]) => [
        shape,
        t.router(
          Object.fromEntries(
            Object.entries(router._def.procedures as Record<string, AnyTRPCProcedure>).map(
              ([name, procedure]) => [name, below(`/${shape}`, procedure)],
            ),
          ),
        ),
      ]),
  );

/** An animal without an output schema, and what `trpc-gateway-typegen outputs` writes of its type. */
const inferred = t.router({
  animal: t.procedure
    .meta({
      openapi: { method: 'GET', path: '/inferred/animal', summary: 'An animal by its type' },
    })
    .query(() => ({
      id: 1,
      kind: 'dog',
      bornAt: new Date(0),
      mother: { id: 2, kind: 'dog', bornAt: new Date(0), mother: null },
    })),
});
const inferredOutputs: OutputSchemas = {
  version: 1,
  procedures: { 'inferred.animal': { $ref: '#/$defs/Animal' } },
  $defs: {
    Animal: {
      type: 'object',
      properties: {
        id: { type: 'number' },
        kind: { type: 'string', enum: ['cat', 'dog'] },
        bornAt: { type: 'string', format: 'date-time' },
        mother: { anyOf: [{ $ref: '#/$defs/Animal' }, { type: 'null' }] },
      },
      required: ['id', 'kind', 'bornAt', 'mother'],
    },
  },
};

/** Creates one gateway of all shapes, with all hooks. */
export const createComposed = (openapi: '3.1' | '3.2'): Promise<Gateway> =>
  createGateway({
    router: t.router({
      inputs: t.router(shapesOf(inputs)),
      uploads: t.router(shapesOf(uploads)),
      outputs: t.router(shapesOf(outputs)),
      errors: t.router(shapesOf(errors)),
      credentials: t.router(shapesOf({ notesRouter })),
      hooks: t.router(shapesOf(hooks)),
      standardSchema: t.router(shapesOf(standardSchema)),
      inferred,
    }),
    outputs: inferredOutputs,
    authentication: bearer({
      verify: (token) => (token === 'good' ? 'Ada' : undefined),
      scopes: () => ['notes:read', 'read'],
    }),
    createContext: ({ identity, response }) => ({
      caller: identity && { name: identity },
      user: identity,
      response,
    }),
    document: {
      title: 'Every shape',
      version: '1.0.0',
      license: { name: 'MIT', identifier: 'MIT' },
      openapi,
      transform: ({ info, paths = {}, ...document }) => ({
        ...document,
        info: { ...info, contact: { email: 'api@shapes.example' } },
        paths: hooks.transformPaths(paths, '/transformed'),
      }),
    },
    publicUrl: 'https://shapes.example',
    cors: { origins: (origin) => origin.endsWith('.shapes.example') },
    rateLimit: { calls: 1_000_000, windowMs: 1000 },
    spool: temporaryFiles(),
    policies: [
      {
        before: 'authentication',
        admit: ({ request }) =>
          request.path === '/maintained' ? new TRPCError({ code: 'SERVICE_UNAVAILABLE' }) : undefined,
      },
      { complete: (_context, response) => response.header('X-Served-By', 'shapes') },
    ],
    onError() {},
    onResponse() {},
  });
