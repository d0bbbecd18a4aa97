import { GatewayError, reject, withSubject } from '../../http/gatewayError.ts';
import { hasDate, requireJson } from '../../operations/inspectJson.ts';
import { readDates } from '../../operations/jsonDates.ts';
import { createReadSchema, type ReadSchema } from '../../operations/readSchema.ts';
import {
  acceptsUndefined,
  inputProperties,
  isObjectSchema,
  isVoid,
  type Schema,
} from '../../operations/schema.ts';
import type { Target } from '../../calls/policy.ts';
import type { McpMeta } from '../../procedures/meta.ts';
import { parseFunction, type Parser } from '../../procedures/parseFunction.ts';
import type { Procedure } from '../../procedures/procedures.ts';
import { writeJsonSchema, type JsonSchema } from './jsonSchema.ts';

/** A procedure that is served as a tool, as read at start. */
export interface Tool {
  readonly procedure: Procedure;
  /** What a request that names the tool in its head addresses. */
  readonly target: Target;
  /** Returns the raw input of the procedure. @param args the arguments of the call, if it has any */
  readonly inputOf: (args: object | undefined) => unknown;
  /** The media type of an output of bytes. */
  readonly contentType: string | undefined;
  /** The URI of bytes that are sent as a resource, which the protocol requires. Nothing is served there. */
  readonly uri: string;
  /** Checks an event of a subscription against the schema in its metadata, if there is one. */
  readonly parseEvent: (event: unknown) => unknown;
  /** The entry of the list of tools, as JSON. */
  readonly entry: string;
  /** The same without an output schema that is no object, which revisions before 2026-07-28 do not have. */
  readonly olderEntry: string;
}

/** Tools by name, in the order of the router. */
export type Tools = ReadonlyMap<string, Tool>;

/**
 * Creates the tools of all procedures with `mcp` in their metadata.
 * @param isPublic whether the endpoint needs no credential
 * @throws {GatewayError} with a line for each procedure that cannot be a tool: the reason and the fix
 */
export function createTools(procedures: readonly Procedure[], isPublic: boolean): Tools {
  const tools = new Map<string, Tool>();
  const problems: string[] = [];
  for (const procedure of procedures) {
    const { mcp, path, rateLimitCost: cost } = procedure;
    if (mcp === undefined) continue;
    try {
      withSubject(`Procedure "${path}" cannot be a tool:`, () => {
        const name = toolName(path, mcp);
        const other = tools.get(name)?.procedure.path;
        if (other !== undefined) {
          reject(`"${other}" has the name "${name}" too; give one of them another, with mcp: { name: … }.`);
        }
        const target = { procedures: [procedure], callCount: 1, cost, isPublic };
        tools.set(name, { procedure, target, ...readTool(procedure, mcp, name) });
      });
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      problems.push(error.message);
    }
  }
  if (problems.length > 0) throw new GatewayError(problems.join('\n'));
  return tools;
}

function toolName(path: string, { name = path.replaceAll(/[^\w-]/g, '_') }: McpMeta): string {
  // MCP 2026-07-28, "Tool Names"
  if (/^[\w.-]{1,128}$/.test(name)) return name;
  return reject(
    `its name is "${name.slice(0, 200)}"; use 1 to 128 letters, digits, "_", "-" and ".", with mcp: { name: … }.`,
  );
}

function readTool(procedure: Procedure, mcp: McpMeta, name: string): Omit<Tool, 'procedure' | 'target'> {
  const { rest, type } = procedure;
  // The descriptions of outputs that cannot be described are left out, as in the OpenAPI document.
  const read = createReadSchema(() => {});
  const { inputOf, inputSchema } = readInput(procedure, read);
  const contentType = typeof rest?.produces === 'string' ? rest.produces : undefined;
  const event = type === 'subscription' ? rest?.event : undefined;
  const output =
    contentType === undefined ? read(event ?? outputOf(procedure), 'output', 'output') : undefined;
  // Not of an output that may be absent, since clients require one that matches its schema.
  const described = output && !acceptsUndefined(output) && !isVoid(output) ? output : undefined;
  const { summary, description = summary } = rest ?? {};
  const entry = {
    name,
    title: mcp.title ?? (summary === description ? undefined : summary),
    description: mcp.description ?? description,
    inputSchema,
    annotations: annotationsOf(procedure, mcp),
  };
  const older = described && isObjectSchema(described) ? described : undefined;
  return {
    inputOf,
    contentType,
    uri: `tool:${name}`,
    parseEvent: event ? parseFunction(event as Parser) : (value) => value,
    entry: entryText(entry, described),
    olderEntry: entryText(entry, older),
  };
}

/** The output of a subscription without the schema of its events describes the iterable, not its values. */
const outputOf = ({ output, type }: Procedure) => (type === 'subscription' ? undefined : output);

const entryText = (entry: object, output: Schema | undefined): string => {
  const outputSchema = output && {
    ...(isObjectSchema(output) && { type: 'object' }),
    ...writeJsonSchema(output),
  };
  return JSON.stringify({ ...entry, outputSchema });
};

/** @throws {GatewayError} for an input that the arguments of a tool, which are an object, cannot carry */
function readInput(
  { inputs }: Procedure,
  read: ReadSchema,
): Pick<Tool, 'inputOf'> & { readonly inputSchema: JsonSchema } {
  const schemas = inputs.map((input) => {
    const schema =
      read(input, 'input', 'input') ??
      reject('its input is a function, which has no JSON Schema; use z.object({ … }).');
    requireJson(schema, 'input');
    return schema;
  });
  const named =
    inputProperties(schemas) ??
    reject('its input is not an object, as the arguments of a tool are; use z.object({ … }).');
  const own = schemas.filter((schema) => !isVoid(schema));
  if (own.length === 0) {
    return { inputOf: () => undefined, inputSchema: { type: 'object', additionalProperties: false } };
  }
  const [only = {}, ...others] = own;
  const required = Object.keys(named.shape).filter((name) => !acceptsUndefined(named.shape[name] ?? {}));
  // A chain of inputs: each reads its properties of the same object.
  const merged: Schema = {
    properties: named.shape,
    ...(required.length > 0 && { required }),
    ...(named.others && { additionalProperties: named.others }),
  };
  const absent = own.every(acceptsUndefined) ? undefined : {};
  const dated = own.filter(hasDate);
  return {
    inputOf: (args = absent) => dated.reduce<unknown>((value, schema) => readDates(schema, value), args),
    inputSchema: { type: 'object', ...writeJsonSchema(others.length === 0 ? only : merged) },
  };
}

/** What the type and the method of a procedure say of its effects. `mcp.annotations` takes precedence. */
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
