/*
 * The idempotency key of a call. MCP has none of its own (SEP-3182 was closed): a program sets a member of `params`, of
 * `params._meta` or a header, and a model, which sets nothing but arguments, an argument that the procedure does not see.
 */
import { TRPCError } from '@trpc/server';
import { reject } from '../../checks/gatewayError.ts';
import { isObject } from '../../http/isObject.ts';
import type { HttpRequest } from '../../http/request.ts';
import { idempotencyKey, parseKey } from '../../calls/idempotencyKey.ts';
import type { IdempotencyKeyUse } from '../../procedures/meta.ts';
import type { JsonSchema } from '../../schemas/toolSchema.ts';
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
 * Adds the key to the schema of the arguments of a tool. Rules for the names and the number of properties, such as those of a
 * record, apply to the properties of the input only: they must not make the key invalid, and the procedure's schema decides.
 * @param use `undefined` for a tool whose calls have no key
 * @throws {GatewayError} if the input has a property of that name
 */
export function withKeyArgument(schema: JsonSchema, use: IdempotencyKeyUse | undefined): JsonSchema {
  if (use === undefined) return schema;
  // What a schema of an object has.
  const {
    properties = {},
    propertyNames,
    required = [],
  } = schema as {
    readonly properties?: JsonSchema;
    readonly propertyNames?: JsonSchema;
    readonly required?: readonly string[];
  };
  if (Object.hasOwn(properties, member)) {
    reject(
      `its input has a property ${member}, and a tool whose metadata has idempotencyKey receives the key of a call as an argument of that name; rename the property, or remove it and read the key in createContext, or remove idempotencyKey from the metadata`,
    );
  }
  const written: Record<string, unknown> = {
    ...schema,
    properties: { ...properties, [member]: argumentSchema },
    ...(propertyNames && { propertyNames: { anyOf: [{ const: member }, propertyNames] } }),
    ...(use === 'required' && { required: [...required, member] }),
  };
  delete written['maxProperties'];
  if ('patternProperties' in written) {
    delete written['patternProperties'];
    // Without the patterns, it would apply to the properties that match them.
    delete written['additionalProperties'];
  }
  return written;
}

/**
 * Returns arguments without the key: those that the procedure sees. `undefined` if there are no others, also for `{}`: a
 * model that sends no arguments but a key must call the same as a program that sends the key in another place.
 */
export function withoutKey({ [member]: _key, ...others }: Readonly<Record<string, unknown>> = {}):
  | Record<string, unknown>
  | undefined {
  return Object.keys(others).length > 0 ? others : undefined;
}

/** Returns a value of JSON with the members of each object sorted by name, at any depth. */
export function sortMembers(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortMembers);
  if (!isObject(value)) return value;
  const names = Object.keys(value).toSorted();
  return Object.fromEntries(names.map((name) => [name, sortMembers(value[name])]));
}

/** Reads a key, if any. @throws {TRPCError} `BAD_REQUEST` if malformed, ambiguous, or required and missing */
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
