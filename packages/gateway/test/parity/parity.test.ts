import { longForm } from '@petstore/testing/forms';
import * as fc from 'fast-check';
import { createGateway } from 'trpc-gateway';
import { mcp } from 'trpc-gateway/mcp';
import { expect, it, onTestFinished } from 'vitest';
import type { Server } from '../listen.ts';
import { has, serve } from '../servers.ts';
import { socketClient } from '../socketClient.ts';
import { type Call, callsOf, envelopeOutcome, jsonText, type Outcome } from './calls.ts';
import { richInput } from './richInput.ts';
import { richInputs, type RichProcedure, richRouter } from './richRouter.ts';

const procedures: readonly RichProcedure[] = ['create', 'replace', 'update', 'search', 'remove'];
const cases = fc
  .constantFrom(...procedures)
  .chain((procedure) => fc.record({ procedure: fc.constant(procedure), input: richInput[procedure] }));
const schemas = richInputs();

/** The outcome that the schemas demand, by a copy that no gateway serves. */
async function demanded(procedure: RichProcedure, input: unknown): Promise<Outcome> {
  const read = await schemas[procedure].safeParseAsync(input);
  if (!read.success) return { code: 'BAD_REQUEST', status: 400 };
  return { data: jsonText({ seen: JSON.parse(JSON.stringify(read.data)) as unknown }) };
}

/** Calls procedures over one WebSocket, one after the other. */
function openSocket(server: Server): Call {
  const socket = socketClient(server);
  onTestFinished(socket.terminate);
  return async (procedure, input) => {
    const method = procedure === 'search' ? 'query' : 'mutation';
    const given = input === undefined ? '' : `,"input":${jsonText(input)}`;
    const params = `{"path":"${procedure}"${given}}`;
    const [text] = await socket.exchange(`{"id":1,"jsonrpc":"2.0","method":"${method}","params":${params}}`);
    return envelopeOutcome(JSON.parse(String(text)) as Parameters<typeof envelopeOutcome>[0]);
  };
}

it('REST, tRPC, its batches and WebSockets, and MCP return the same result or the same error for generated inputs', async () => {
  const gateway = await createGateway({
    router: richRouter(),
    createContext: ({ response }) => ({ response }),
    document: { title: 'Things', version: '1.0.0' },
    mcp: mcp(),
  });
  const server = await serve(gateway);
  onTestFinished(async () => void (await server.close({ timeoutMs: 0, graceMs: 0 })));
  const calls = Object.entries({
    ...callsOf(gateway),
    ...(has('WebSockets') && { socket: openSocket(server) }),
  });
  /** The accepted and the rejected inputs, so that a generator of only invalid inputs does not look like a success. */
  const counts = new Map(procedures.map((name) => [name, { accepted: 0, rejected: 0 }]));
  const property = fc.asyncProperty(cases, async ({ procedure, input }) => {
    const expected = await demanded(procedure, input);
    const count = counts.get(procedure);
    if (count) count['data' in expected ? 'accepted' : 'rejected'] += 1;
    for (const [protocol, call] of calls) {
      // What a protocol cannot express is not compared.
      const outcome = (await call(procedure, input)) ?? expected;
      expect([protocol, outcome]).toEqual([protocol, expected]);
    }
  });
  await fc.assert(property, { numRuns: longForm ? 10_000 : 500 });
  process.stdout.write(`Parity of four protocols: ${JSON.stringify(Object.fromEntries(counts))}\n`);
  for (const { accepted, rejected } of counts.values()) {
    expect(Math.min(accepted, rejected)).toBeGreaterThanOrEqual(longForm ? 100 : 5);
  }
}, 600_000);
