// Hot path: every message on a WebSocket is read here.
import type { AnyTRPCRouter } from '@trpc/server';
import { isObject } from '../../http/isObject.ts';
import type { ProcedureDefinition } from '../../procedures/procedures.ts';

/** A query or a mutation, as a message asks for it. */
export class SocketCall {
  readonly id: string | number;
  readonly jsonrpc: '2.0' | undefined;
  readonly definition: ProcedureDefinition;
  /** Its place in its batch. */
  readonly batchIndex: number;
  input: unknown;

  constructor(
    id: string | number,
    jsonrpc: '2.0' | undefined,
    definition: ProcedureDefinition,
    batchIndex: number,
    input: unknown,
  ) {
    this.id = id;
    this.jsonrpc = jsonrpc;
    this.definition = definition;
    this.batchIndex = batchIndex;
    this.input = input;
  }
}

/** Reads a text message; `undefined`: it is not made of such calls alone, or malformed. Nothing is decided of it then. */
export type SocketMessages = (text: string) => readonly SocketCall[] | undefined;

/** Reads messages in tRPC's default encoding as its handler does (@trpc/server 11.25). */
export function createSocketMessages(
  router: AnyTRPCRouter,
  definitions: readonly ProcedureDefinition[],
  maxBatchSize: number,
): SocketMessages {
  const { input: transformer } = router._def._config.transformer;
  const byPath = new Map(definitions.map((definition) => [definition.path, definition]));

  function called(message: unknown, batchIndex: number): SocketCall | undefined {
    if (!isObject(message)) return undefined;
    const { id, jsonrpc, method, params } = message;
    if (typeof id !== 'number' && typeof id !== 'string') return undefined;
    if (jsonrpc !== undefined && jsonrpc !== '2.0') return undefined;
    if ((method !== 'query' && method !== 'mutation') || !isObject(params)) return undefined;
    const { path, input, lastEventId } = params;
    // What a reconnected subscription says of itself: it would become part of the input.
    if (typeof path !== 'string' || lastEventId !== undefined) return undefined;
    const definition = byPath.get(path);
    return definition?.type === method
      ? new SocketCall(id, jsonrpc, definition, batchIndex, input)
      : undefined;
  }

  return (text) => {
    try {
      const message: unknown = JSON.parse(text);
      if (Array.isArray(message) && message.length > maxBatchSize) return undefined;
      const parts: readonly unknown[] = Array.isArray(message) ? message : [message];
      const calls: SocketCall[] = [];
      for (const part of parts) {
        const call = called(part, calls.length);
        if (call === undefined) return undefined;
        calls.push(call);
      }
      // All before the first is called: one that cannot be read makes the whole message malformed.
      for (const call of calls) call.input = transformer.deserialize(call.input);
      return calls;
    } catch {
      return undefined;
    }
  };
}
