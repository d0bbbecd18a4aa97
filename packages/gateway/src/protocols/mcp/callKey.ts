/*
 * The idempotency key of a call. MCP has none of its own (SEP-3182 was closed): a program sets a member of `params`, of
 * `params._meta` or a header, and a model, which sets nothing but arguments, an argument that the procedure does not see.
 */
import { TRPCError } from '@trpc/server';
import { reject } from '../../checks/gatewayError.ts';
import { isObject } from '../../http/isObject.ts';
import type { HttpRequest } from '../../http/request.ts';
import type { Header } from '../../http/response.ts';
import { idempotencyKey, parseKey } from '../../calls/idempotencyKey.ts';
import type { IdempotencyKeyUse } from '../../procedures/meta.ts';
import type { JsonSchema } from './jsonSchema.ts';
import type { Message } from './message.ts';

/** The argument, and the member of `params` (SEP-3182) and of `params._meta`. */
const member = 'idempotencyKey';

/** The argument, for the model. */
const argumentSchema: JsonSchema = {
  type: 'string',
  description:
    'A new random UUID for each action; to repeat a call whose result you did not receive, send the same UUID and the same arguments, and it runs only once.',
};

/**
 * Adds the key to the schema of the arguments of a tool.
 * @param use `undefined` for a tool whose calls have no key
 * @throws {GatewayError} if the input has a property of that name
 */
export function withKeyArgument(schema: JsonSchema, use: IdempotencyKeyUse | undefined): JsonSchema {
  if (use === undefined) return schema;
  // What a schema of an object has.
  const { properties = {}, required = [] } = schema as {
    readonly properties?: JsonSchema;
    readonly required?: readonly string[];
  };
  if (Object.hasOwn(properties, member)) {
    reject(
      `its input has a property ${member}, and a tool whose metadata has idempotencyKey receives the key of a call as an argument of that name; rename the property, or remove it and read the key in createContext, or remove idempotencyKey from the metadata`,
    );
  }
  return {
    ...schema,
    properties: { ...properties, [member]: argumentSchema },
    ...(use === 'required' && { required: [...required, member] }),
  };
}

/** Returns arguments without the key: those that the procedure sees. `undefined` if there are no others. */
export function withoutKey(
  args: Readonly<Record<string, unknown>> | undefined,
): Record<string, unknown> | undefined {
  if (args === undefined || !Object.hasOwn(args, member)) return args;
  const { [member]: _key, ...others } = args;
  return Object.keys(others).length > 0 ? others : undefined;
}

/**
 * Reads the key of a call; `undefined` without one.
 * @throws {TRPCError} `BAD_REQUEST` for a malformed key, for two different ones, and for a missing one that is required
 */
export function callKey(
  request: HttpRequest,
  { meta, params }: Pick<Message, 'meta' | 'params'>,
  use: IdempotencyKeyUse | undefined,
): string | undefined {
  const { arguments: args } = params;
  const inArguments = isObject(args) ? args[member] : undefined;
  const keys = [
    ['params._meta.idempotencyKey', readMember('params._meta.idempotencyKey', meta[member])],
    ['params.idempotencyKey', readMember('params.idempotencyKey', params[member])],
    // Errors of arguments name the argument alone.
    ['arguments.idempotencyKey', readMember(member, inArguments)],
    ['the header Idempotency-Key', idempotencyKey(request)],
  ].filter(([, key]) => key !== undefined);
  const [[firstPlace, first] = [], ...others] = keys;
  const [otherPlace] = others.find(([, key]) => key !== first) ?? [];
  if (otherPlace !== undefined) {
    throw invalid(
      `The call has different idempotency keys in ${firstPlace} and ${otherPlace}. Send one key.`,
    );
  }
  if (first === undefined && use === 'required') {
    throw invalid(
      'idempotencyKey: is required. Send a new UUID for each new action and the same one to repeat it, as this argument, as params.idempotencyKey, as params._meta.idempotencyKey or as the header Idempotency-Key.',
    );
  }
  return first;
}

function readMember(name: string, value: unknown): string | undefined {
  if (value === undefined) return undefined;
  const key = typeof value === 'string' ? parseKey(value) : undefined;
  if (key !== undefined) return key;
  throw invalid(
    `${name}: must be a string of 1 to 255 visible ASCII characters, bare or in double quotes, as in the header Idempotency-Key. A new UUID is one.`,
  );
}

const invalid = (message: string) => new TRPCError({ code: 'BAD_REQUEST', message });

/**
 * The end of a result that an earlier call with the same key has produced. Names in `_meta` should have a prefix in reverse
 * DNS notation (MCP 2026-07-28, "_meta"); this one is that of the project's pages on GitHub.
 */
const replayedEnd = ',"_meta":{"io.github.trpc-gateway/replayed":true}}';

/** Marks a result whose response has the header `Idempotent-Replayed`, once. */
export function markReplayed(result: string, headers: readonly Header[]): string {
  const isReplayed = headers.some(([name]) => name === 'idempotent-replayed');
  return isReplayed && !result.endsWith(replayedEnd) ? `${result.slice(0, -1)}${replayedEnd}` : result;
}
