import { bearer, createGateway } from 'trpc-gateway';
import { inputs, longForm } from '@petstore/testing/forms';
import * as fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { connect } from '../client.ts';
import { serve } from '../servers.ts';
import {
  type Send,
  type ProtocolVariant,
  inProcess,
  type Outcome,
  overPort,
  restOutcome,
  rpcOutcome,
} from './protocolCalls.ts';
import { jsonText } from './jsonText.ts';
import { richCall, richInput } from './richCalls.ts';
import { richInputs, type RichProcedure, richRouter } from './richRouter.ts';
import { Tally } from './tally.ts';

const apiKey = 'a-key-of-things';
const procedures: readonly RichProcedure[] = ['create', 'replace', 'update', 'search', 'remove'];

interface RichCase {
  readonly procedure: RichProcedure;
  readonly input: unknown;
}

const cases: fc.Arbitrary<RichCase> = fc
  .constantFrom(...procedures)
  .chain((procedure) => fc.record({ procedure: fc.constant(procedure), input: richInput[procedure] }));

const newGateway = () =>
  createGateway({
    router: richRouter(),
    createContext: ({ response }) => ({ response }),
    authentication: bearer({ verify: (token) => token === apiKey || undefined }),
    document: { title: 'Things', version: '1.0.0' },
  });

const schemas = richInputs();

/** The outcome that the schemas demand, by a copy that no gateway serves. */
async function expected(procedure: RichProcedure, input: unknown): Promise<Outcome> {
  const read = await schemas[procedure].safeParseAsync(input);
  if (!read.success) return { code: 'BAD_REQUEST', status: 400 };
  return { data: jsonText({ seen: JSON.parse(JSON.stringify(read.data)) as unknown }) };
}

async function outcome(
  send: Send,
  procedure: RichProcedure,
  input: unknown,
  protocol: ProtocolVariant,
): Promise<Outcome> {
  const request = richCall(procedure, input, protocol);
  if (request === undefined) return outcome(send, procedure, input, 'trpc');
  const received = await send(request);
  return protocol === 'rest' ? restOutcome(received) : rpcOutcome(received, protocol === 'batch');
}

/** Sends a call over every protocol. Returns the actual and the expected outcomes. */
async function onEveryProtocol(call: Send, { procedure, input }: RichCase, tally: Tally) {
  const expectedOutcome = await expected(procedure, input);
  tally.add(procedure, 'data' in expectedOutcome);
  return {
    actual: {
      procedure,
      rest: await outcome(call, procedure, input, 'rest'),
      trpc: await outcome(call, procedure, input, 'trpc'),
      batch: await outcome(call, procedure, input, 'batch'),
    },
    expected: { procedure, rest: expectedOutcome, trpc: expectedOutcome, batch: expectedOutcome },
  };
}

describe('parity of REST and tRPC', () => {
  const tally = new Tally();
  afterAll(() => tally.print('Parity of a router of many types'));

  it('REST and tRPC return the same result or the same error for generated inputs, in process', async () => {
    // One gateway for all calls, so that state that a call leaves behind would show.
    const send = inProcess(await newGateway(), apiKey);
    const property = fc.asyncProperty(cases, async (richCase) => {
      const { actual, expected: outcomes } = await onEveryProtocol(send, richCase, tally);
      expect(actual).toEqual(outcomes);
    });
    await fc.assert(property, { numRuns: inputs(1000) });
    // Of a fifth of the inputs, a procedure may reject nearly none.
    expect(tally.underrepresented(longForm ? 40 : 1)).toEqual([]);
  });

  it('REST and tRPC return the same result or the same error for generated inputs, over a port', async () => {
    const server = await serve(await newGateway());
    try {
      const send = overPort(await connect({ ...server, apiKey }));
      const property = fc.asyncProperty(cases, async (richCase) => {
        const { actual, expected: outcomes } = await onEveryProtocol(send, richCase, tally);
        expect(actual).toEqual(outcomes);
      });
      await fc.assert(property, { numRuns: inputs(200) });
    } finally {
      await server.close();
    }
  });
});
