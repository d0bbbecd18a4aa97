import { GatewayError, reject, type Problem } from '../../checks/gatewayError.ts';
import { hasDate, requireJson } from '../../operations/inspectJson.ts';
import { readDates } from '../../operations/jsonDates.ts';
import { createReadSchema, type ReadSchema } from '../../schemas/readSchema.ts';
import {
  acceptsUndefined,
  binaryKind,
  details,
  innermost,
  isVoid,
  maxDepth,
  membersOf,
  type Schema,
} from '../../schemas/schema.ts';
import type { Target } from '../../calls/policy.ts';
import type { McpMeta, RestMeta } from '../../procedures/meta.ts';
import { eventFunction } from '../../procedures/asyncOutput.ts';
import type { Parser } from '../../procedures/parseFunction.ts';
import type { Procedure } from '../../procedures/procedure.ts';
import { Failure } from '../../procedures/execute.ts';
import { mayBeAbsent, readArguments, wrapper } from '../../schemas/argumentsSchema.ts';
import { isBytes, readBytes, type ByteOptions } from './byteContent.ts';
import { withKeyArgument } from './callKey.ts';
import type { Message } from './message.ts';
import { InferredOutput } from '../../schemas/inferredOutput.ts';
import { portableSchema } from '../../schemas/portableSchema.ts';
import { writeJsonSchema, type JsonSchema } from '../../schemas/toolSchema.ts';
import { withCutMember, type ResultLimit } from './resultLimit.ts';

/** A procedure that is served as a tool, as read at start. */
interface Tool {
  readonly name: string;
  readonly procedure: Procedure;
  /** The procedure that runs for a call: it also reads an output of bytes. */
  readonly executed: Procedure;
  /** The target of a request that names the tool in its head. */
  readonly target: Target;
  /** Returns the raw input of the procedure. @param args the arguments of the call, if it has any */
  readonly inputOf: (args: Readonly<Record<string, unknown>> | undefined) => unknown;
  /** The argument that is the input, before the paths of its issues. `undefined` if the arguments are the input. */
  readonly wrapper: string | undefined;
  /** The media type of an output of bytes. */
  readonly contentType: string | undefined;
  /** Checks an event of a subscription against the schema in its metadata, if there is one. */
  readonly parseEvent: (event: unknown) => unknown;
  readonly isDescribed: boolean;
  readonly limit: ResultLimit;
  /** The entry of the list of tools, as JSON. */
  readonly entry: string;
}

export interface ToolCall extends Message {
  readonly tool: Tool;
  readonly args: Record<string, unknown> | undefined;
}

/** Tools by name, in the order of the router. */
export type Tools = ReadonlyMap<string, Tool>;

/**
 * Reads the tools of a router: the procedures with `mcp` in their metadata. Each that cannot be one has a line in `problems`.
 * @param maxBytes the largest response
 * @param maxResultBytes the largest result of tools without a limit of their own
 */
export function readTools(
  procedures: readonly Procedure[],
  maxBytes: number,
  maxResultBytes: number,
): { readonly tools: Tools; readonly problems: readonly Problem[] } {
  const served = procedures.filter(({ mcp }) => mcp !== undefined);
  // In an older revision, the head does not say which tool is called, so all are public or none.
  const isPublic = served.every((procedure) => procedure.isPublic);
  const tools = new Map<string, Tool>();
  const problems: Problem[] = [];
  for (const procedure of served) {
    try {
      const tool = readTool(procedure, isPublic, maxBytes, maxResultBytes);
      const other = tools.get(tool.name)?.procedure.path;
      if (other !== undefined) {
        reject(`"${other}" has the name "${tool.name}" too; give one of them another, with mcp: { name: … }`);
      }
      tools.set(tool.name, tool);
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      const { path } = procedure;
      for (const reason of new Set(error.message.split('\n'))) {
        const line = `Procedure "${path}" cannot be a tool: ${reason}.`;
        problems.push({ procedure: path, part: 'mcp', line });
      }
    }
  }
  return { tools, problems };
}

function toolName(path: string, { name = path.replaceAll(/[^\w-]/g, '_') }: McpMeta): string {
  // MCP 2026-07-28, "Tool Names"
  if (/^[\w.-]{1,128}$/.test(name)) return name;
  return reject(
    `its name is "${name.slice(0, 200)}"; use 1 to 128 letters, digits, "_", "-" and ".", with mcp: { name: … }`,
  );
}

function readTool(procedure: Procedure, isPublic: boolean, maxBytes: number, maxResultBytes: number): Tool {
  const { idempotencyKey, mcp = {}, output, path, rateLimitCost: cost, rest, type } = procedure;
  const name = toolName(path, mcp);
  // An output that cannot be described is left out, as in the OpenAPI document.
  const read = createReadSchema(() => {});
  const { inputSchema, ...input } = readInput(procedure, read);
  const contentType = typeof rest?.produces === 'string' ? rest.produces : undefined;
  const isStream = type === 'subscription';
  const event = isStream ? rest?.event : undefined;
  // The output of a subscription has no schema, since it may end without a value.
  const schema = contentType === undefined && !isStream ? read(output, 'output', 'output') : undefined;
  if (schema) requireOutput(schema);
  const written = schema && !acceptsUndefined(schema) ? writeJsonSchema(schema) : {};
  // Clients require an object that matches it, so not of an output that may be `null`.
  const isStructured = written['type'] === 'object';
  const outputSchema = isStructured ? withCutMember(written) : undefined;
  // Its parser has checked that it is an object. What types say is not checked.
  const isNeverBytes = isStream || (isStructured && !(output instanceof InferredOutput));
  const { summary, description: long = summary } = rest ?? {};
  const description = mcp.description ?? long;
  const entry = {
    name,
    title: mcp.title ?? (summary === long ? undefined : summary),
    description: [deprecationText(rest), description].filter(Boolean).join(' ') || undefined,
    inputSchema: withKeyArgument(portableSchema(inputSchema), idempotencyKey),
    outputSchema,
    annotations: annotationsOf(procedure, mcp),
    _meta: hostLimit(mcp.maxResultBytes),
  };
  return {
    name,
    procedure,
    executed: isNeverBytes ? procedure : readingBytes(procedure, { contentType, maxBytes, name, path }),
    target: { procedures: [procedure], callCount: 1, cost, isPublic },
    ...input,
    contentType,
    parseEvent: eventFunction(event as Parser | undefined),
    isDescribed: (description ?? '').trim() !== '',
    limit: {
      maxBytes: mcp.maxResultBytes ?? maxResultBytes,
      maxResponseBytes: maxBytes,
      isStructured,
      procedure,
      schema: written,
      hasCutMember: isStructured && outputSchema !== written,
      inputs: (inputSchema['properties'] ?? {}) as ResultLimit['inputs'],
    },
    entry: JSON.stringify(entry),
  };
}

/** With this `_meta`, Claude Code gives a model up to 500,000 characters; else, over 50,000 go to a file. */
const hostLimit = (maxResultBytes = 0): object | undefined =>
  maxResultBytes > 50_000 ? { 'anthropic/maxResultSizeChars': Math.min(maxResultBytes, 500_000) } : undefined;

/** Reads an output of bytes as part of the call: within its deadline, while it counts, with its errors. */
function readingBytes(procedure: Procedure, options: Omit<ByteOptions, 'signal'>): Procedure {
  const { procedure: original, stages: [first = [], ...others] = [] } = procedure;
  function convert(value: unknown, call: { readonly signal?: AbortSignal | undefined } | undefined): unknown {
    if (value instanceof Failure || !(options.contentType !== undefined || isBytes(value))) return value;
    return readBytes(value, { ...options, signal: call?.signal });
  }
  return {
    ...procedure,
    stages: procedure.stages && [[...first, { kind: 'convert', convert }], ...others],
    procedure: (async (call: Parameters<typeof original>[0]) =>
      convert(await original(call), call)) as unknown as typeof original,
  };
}

/** @throws {GatewayError} for an input that JSON does not have */
function readInput(
  { inputs }: Procedure,
  read: ReadSchema,
): Pick<Tool, 'inputOf' | 'wrapper'> & { readonly inputSchema: JsonSchema } {
  const schemas = inputs.map((input) => {
    const schema =
      read(input, 'input', 'input') ??
      reject('its input is a function, which has no JSON Schema; use z.object({ … })');
    requireJson(schema, 'input');
    return schema;
  });
  const own = schemas.filter((schema) => !isVoid(schema));
  if (own.length === 0) {
    const inputSchema = { type: 'object', properties: {}, additionalProperties: false };
    return { inputOf: () => undefined, wrapper: undefined, inputSchema };
  }
  const dated = own.filter(hasDate);
  const withDates = (value: unknown) =>
    dated.reduce<unknown>((result, schema) => readDates(schema, result), value);
  const { schema: inputSchema, isWrapped } = readArguments(own);
  if (isWrapped) return { inputOf: (args) => withDates(args?.[wrapper]), wrapper, inputSchema };
  const absent = own.every(mayBeAbsent) ? undefined : {};
  const inputOf: Tool['inputOf'] =
    dated.length === 0 ? (args = absent) => args : (args = absent) => withDates(args);
  return { inputOf, wrapper: undefined, inputSchema };
}

/** Requires JSON, bytes or a list of `Blob`s, as far as the schema says. @throws {GatewayError} */
function requireOutput(schema: Schema, depth = 0): void {
  const inner = depth > maxDepth ? undefined : innermost(schema);
  if (inner === undefined) return;
  const members = membersOf(inner);
  if (members) return members.forEach((member) => requireOutput(member, depth + 1));
  const { items } = inner;
  const isContent = isBytesSchema(inner) || (typeof items === 'object' && isBytesSchema(items));
  if (!isContent) requireJson(inner, 'output');
}

const isBytesSchema = (schema: Schema): boolean =>
  schema[details]?.type === 'file' || ['File', 'bytes'].includes(binaryKind(schema) ?? '');

/** Says that a procedure is deprecated, at the beginning of a description, where a model reads it before the rest. */
function deprecationText(rest: RestMeta | undefined): string | undefined {
  const { deprecated, deprecation } = rest ?? {};
  if (deprecation === undefined) return deprecated === true ? 'Deprecated.' : undefined;
  const { since, sunset } = deprecation;
  const day = (date: Date) => date.toISOString().slice(0, 10);
  return `Deprecated since ${day(since)}${sunset ? `, and removed on ${day(sunset)}` : ''}.`;
}

/** Derives the annotations of a tool from the type and the method of its procedure. `mcp.annotations` takes precedence. */
function annotationsOf({ rest, type }: Procedure, { annotations }: McpMeta): object {
  const { method } = rest ?? {};
  if (type !== 'mutation') return { readOnlyHint: true, ...annotations };
  return {
    readOnlyHint: false,
    // A client asks its user before a destructive call, so only what is known to add something is not.
    destructiveHint: method !== 'POST',
    // RFC 9110 §9.2.2
    idempotentHint: method === 'PUT' || method === 'DELETE',
    ...annotations,
  };
}
