import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { fileURLToPath } from 'node:url';
import superjson from 'superjson';
import { type AnyTRPCProcedure, initTRPC } from '@trpc/server';
import { createGateway } from 'trpc-gateway';
import { describe, expect, it } from 'vitest';
import { readOutputs } from './readOutputs.ts';
import { appRouter } from './testing/shapes.ts';

const pathOf = (file: string) => fileURLToPath(new URL(file, import.meta.url));
const project = pathOf('../../tsconfig.test.json');
const { open, outputs } = await readOutputs({ file: pathOf('testing/shapes.ts'), project });
const ajv = addFormats.default(new Ajv2020({ strictTuples: false }));
const procedures = Object.entries(appRouter._def.procedures as object as Record<string, AnyTRPCProcedure>);

const validatorOf = (path: string) =>
  ajv.compile({ allOf: [outputs.procedures[path] ?? {}], $defs: outputs.$defs });

describe('readOutputs', () => {
  it('describes every procedure of the router, and leaves nothing open', () => {
    expect(Object.keys(outputs.procedures)).toEqual(procedures.map(([path]) => path).toSorted());
    expect(open).toEqual([]);
  });

  it.each([
    ['without a transformer', appRouter],
    [
      'with superjson',
      initTRPC.create({ transformer: superjson, isDev: false }).router({ ...appRouter._def.record }),
    ],
  ])('%s, accepts what is sent of each type, and rejects a near miss', async (_, router) => {
    const document = { title: 'Shapes', version: '1' };
    const gateway = await createGateway({ router, createContext: () => ({}), document, openapi: true });
    const judged = await Promise.all(
      procedures.map(async ([path, { _def }]) => {
        const isMutation = path === 'nothing';
        const url = `http://127.0.0.1/v1/${path.replaceAll('.', '/')}`;
        const response = await gateway.fetch(new Request(url, { method: isMutation ? 'POST' : 'GET' }));
        const text = await response.text();
        const isValid = validatorOf(path);
        // Nothing is no JSON.
        const isNothing = text === '' && response.status === 204;
        const accepts = isNothing
          ? JSON.stringify(outputs.procedures[path]).includes('{"not":{}}')
          : isValid(JSON.parse(text));
        const { nearMiss } = _def.meta as { readonly nearMiss: unknown };
        const rejects = nearMiss === undefined || !isValid(nearMiss);
        return { path, text, accepts, errors: isValid.errors, rejects };
      }),
    );
    expect(judged.filter(({ accepts, rejects }) => !accepts || !rejects)).toEqual([]);
  });
});
