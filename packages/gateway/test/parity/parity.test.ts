import { longForm } from '@petstore/testing/forms';
import * as fc from 'fast-check';
import { once } from 'node:events';
import { createGateway } from 'trpc-gateway';
import { mcp } from 'trpc-gateway/mcp';
import { expect, it, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import type { Server } from '../listen.ts';
import { currentHeaders, currentMeta, errorOf, post, type Revision } from '../mcp/messages.ts';
import { has, serve } from '../servers.ts';
import { jsonText } from './jsonText.ts';
import { inProcess, restOutcome, rpcOutcome, type Outcome } from './protocolCalls.ts';
import { richCall, richInput } from './richCalls.ts';
import { richInputs, type RichProcedure, richRouter } from './richRouter.ts';

const procedures: readonly RichProcedure[] = ['create', 'replace', 'update', 'search', 'remove'];
const cases = fc
  .constantFrom(...procedures)
  .chain((procedure) => fc.record({ procedure: fc.constant(procedure), input: richInput[procedure] }));
const schemas = richInputs();
const isArguments = (input: unknown) => typeof input === 'object' && input !== null && !Array.isArray(input);

/** The outcome that the schemas demand, by a copy that no gateway serves. */
async function demanded(procedure: RichProcedure, input: unknown): Promise<Outcome> {
  const read = await schemas[procedure].safeParseAsync(input);
  if (!read.success) return { code: 'BAD_REQUEST', status: 400 };
  return { data: jsonText({ seen: JSON.parse(JSON.stringify(read.data)) as unknown }) };
}

/** Calls a tool, with arguments as `jsonText` writes them. */
async function toolOutcome(
  server: Pick<Server, 'fetch' | 'origin'>,
  name: string,
  input: unknown,
  revision: Revision,
): Promise<Outcome> {
  const isCurrent = revision === '2026-07-28';
  const meta = isCurrent ? `,"_meta":${JSON.stringify(currentMeta)}` : '';
  const params = `{"name":"${name}","arguments":${jsonText(input)}${meta}}`;
  const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params}}`;
  const reply = await post(server, body, isCurrent ? currentHeaders('tools/call', name) : {});
  const { isError, structuredContent } = reply.message?.result ?? {};
  if (isError !== true) return { data: jsonText(structuredContent) };
  const { code, status } = errorOf(reply) as { readonly code: string; readonly status: number };
  return { code, status };
}

/** Calls procedures over one WebSocket, one after the other. */
async function openSocket({ origin }: Server) {
  const socket = new WebSocket(`${origin.replace('http', 'ws')}/trpc`);
  await once(socket, 'open');
  onTestFinished(() => socket.terminate());
  return async (procedure: RichProcedure, input: unknown): Promise<Outcome> => {
    const method = procedure === 'search' ? 'query' : 'mutation';
    const given = input === undefined ? '' : `,"input":${jsonText(input)}`;
    socket.send(`{"id":1,"jsonrpc":"2.0","method":"${method}","params":{"path":"${procedure}"${given}}}`);
    const [text] = (await once(socket, 'message')) as [Buffer];
    const { error, result } = JSON.parse(String(text)) as {
      readonly error?: { readonly data: { readonly code: string; readonly httpStatus: number } };
      readonly result?: { readonly data: unknown };
    };
    return error
      ? { code: error.data.code, status: error.data.httpStatus }
      : { data: jsonText(result?.data) };
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
  const send = inProcess(gateway);
  const tool = { fetch: gateway.fetch, origin: 'http://localhost' };
  const overSocket = has('WebSockets') ? await openSocket(server) : undefined;
  /** The accepted and the rejected inputs, so that a generator of only invalid inputs does not look like a success. */
  const counts = new Map(procedures.map((name) => [name, { accepted: 0, rejected: 0 }]));
  const property = fc.asyncProperty(cases, async ({ procedure, input }) => {
    const expected = await demanded(procedure, input);
    const count = counts.get(procedure);
    if (count) count['data' in expected ? 'accepted' : 'rejected'] += 1;
    const rpc = richCall(procedure, input, 'trpc');
    const batch = richCall(procedure, input, 'batch');
    const rest = richCall(procedure, input, 'rest');
    const outcomes = {
      trpc: rpc && rpcOutcome(await send(rpc), false),
      batch: batch && rpcOutcome(await send(batch), true),
      // What a path or a query cannot carry is not compared.
      rest: rest ? restOutcome(await send(rest)) : expected,
      socket: overSocket ? await overSocket(procedure, input) : expected,
      // Arguments are an object.
      current: isArguments(input) ? await toolOutcome(tool, procedure, input, '2026-07-28') : expected,
      older: isArguments(input) ? await toolOutcome(tool, procedure, input, '2025-11-25') : expected,
    };
    expect(outcomes).toEqual({
      trpc: expected,
      batch: expected,
      rest: expected,
      socket: expected,
      current: expected,
      older: expected,
    });
  });
  await fc.assert(property, { numRuns: longForm ? 10_000 : 500 });
  process.stdout.write(`Parity of four protocols: ${JSON.stringify(Object.fromEntries(counts))}\n`);
  for (const { accepted, rejected } of counts.values()) {
    expect(Math.min(accepted, rejected)).toBeGreaterThanOrEqual(longForm ? 100 : 5);
  }
}, 600_000);
