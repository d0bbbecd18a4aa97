import { reject } from '../http/gatewayError.ts';
import type { MediaWriter, RestMeta } from '../procedures/meta.ts';
import type { Procedure } from '../procedures/procedures.ts';
import { parseFunction, type Parser } from '../procedures/parseFunction.ts';
import type { StandardSchema } from '../procedures/standardSchema.ts';
import { jsonProblem } from './inspectJson.ts';
import type { ReadSchema } from './readSchema.ts';
import { acceptsUndefined, isVoid, type Schema } from './schema.ts';

/** How the output of a procedure is sent as a body. */
export type OperationOutput = JsonOutput | MediaOutput | BytesOutput | EventsOutput;

interface OutputSchemas {
  /** `undefined` if the procedure has no output schema, or one that the document cannot describe. */
  readonly schema: Schema | undefined;
  /** The schemas by status, if the metadata has `responses`. */
  readonly responses: StatusResponses | undefined;
}

export type StatusResponses = ReadonlyMap<number, StatusResponse>;

interface StatusResponse {
  readonly schema: Schema;
  readonly parse: (output: unknown) => unknown;
}

interface JsonOutput extends OutputSchemas {
  readonly kind: 'json';
}

/** An output with several media types; `Accept` chooses one. */
interface MediaOutput extends OutputSchemas {
  readonly kind: 'media';
  /** The media types; the first is preferred. */
  readonly types: MediaTypes;
}

type MediaTypes = ReadonlyMap<string, true | MediaWriter>;

interface BytesOutput {
  readonly kind: 'bytes';
  readonly contentType: string;
}

/** A subscription, sent as server-sent events. Each event is parsed. */
interface EventsOutput {
  readonly kind: 'events';
  readonly schema: Schema;
  readonly parse: (event: unknown) => unknown;
}

/** @throws {GatewayError} */
export function operationOutput(procedure: Procedure, rest: RestMeta, read: ReadSchema): OperationOutput {
  const { type } = procedure;
  const { produces, event, method } = rest;
  if (type === 'subscription') {
    if (method !== 'GET') reject(`it is a subscription, so its method must be GET, not ${method}`);
    const schema =
      read(event, 'output', 'event') ??
      reject('it is a subscription without a schema of its events; add event: z.object(…) to its metadata');
    return { kind: 'events', schema: jsonOutput(schema, 'event'), parse: parseFunction(event as Parser) };
  }
  if (event !== undefined) {
    reject(
      `its metadata has an event, but it is a ${type}, not a subscription; remove the event, or use .subscription(…)`,
    );
  }
  if (typeof produces === 'string') {
    checkMediaType(produces);
    return { kind: 'bytes', contentType: produces };
  }
  const schemas = outputSchemas(procedure, rest, read);
  return produces === undefined
    ? { kind: 'json', ...schemas }
    : { kind: 'media', ...schemas, types: mediaTypes(produces) };
}

function mediaTypes(produces: Readonly<Record<string, true | MediaWriter>>): MediaTypes {
  const types = new Map(Object.entries(produces));
  if (types.size === 0)
    reject('its produces is empty; list a media type, or remove it (the default is application/json)');
  for (const [type, writer] of types) {
    checkMediaType(type);
    if (writer === true && !/^application\/(?:.*\+)?json *(?:;|$)/.test(type)) {
      reject(
        `its produces has ${type}: true, but the type is not JSON; use a function of the output instead of true`,
      );
    }
  }
  return types;
}

function checkMediaType(type: string): void {
  // oxlint-disable-next-line no-control-regex -- these are the characters that a header must not have
  if (/^[^\s/]+\/[^\x00-\x1f]+$/.test(type)) return;
  reject(
    `it produces ${JSON.stringify(type)}, which is not a media type; write it as type/subtype, such as image/png`,
  );
}

function outputSchemas(
  procedure: Procedure,
  { responses, successStatus }: RestMeta,
  read: ReadSchema,
): OutputSchemas {
  const schema = read(procedure.output, 'output', 'output');
  if (schema) {
    if (responses === undefined && [successStatus].flat()[0] === 200 && isVoid(schema)) {
      reject('it has no output, but its successStatus is 200; remove successStatus (the default is 204)');
    }
    jsonOutput(schema, 'output');
  }
  if (responses === undefined) return { schema, responses: undefined };
  if (successStatus !== undefined) {
    reject(
      'its metadata has both responses and successStatus; remove successStatus, since responses lists the statuses',
    );
  }
  const entries = Object.entries(responses).map(([status, each]) =>
    statusResponse(Number(status), each, read),
  );
  if (entries.length === 0) reject('its responses is empty; add a status, such as 200: z.object(…)');
  return { schema, responses: new Map(entries) };
}

function statusResponse(
  status: number,
  parser: StandardSchema,
  read: ReadSchema,
): readonly [number, StatusResponse] {
  if (!Number.isInteger(status) || status < 200 || status > 299) {
    reject(
      `its responses has the status ${status}; it must be a 2xx status. For redirects, use successStatus`,
    );
  }
  const schema =
    read(parser, 'output', `response ${status}`) ??
    reject(
      `its response ${status} is neither a zod schema nor a schema that provides a JSON Schema; use z.object(…)`,
    );
  const isBodiless = !statusHasBody(status);
  if (isBodiless !== isVoid(schema)) {
    reject(
      isBodiless
        ? `its response ${status} has a schema, but a ${status} response has no body; use z.void()`
        : `its response ${status} has no body; use the status 204 for z.void()`,
    );
  }
  return [
    status,
    { schema: jsonOutput(schema, `response ${status}`), parse: parseFunction(parser as Parser) },
  ];
}

function jsonOutput(schema: Schema, what: string): Schema {
  const problem = jsonProblem(schema);
  return problem === undefined ? schema : reject(`in its ${what}, ${problem}`);
}

/** Whether a successful response of this status has a body. 204, 205 and redirects have none. */
export const statusHasBody = (status: number): boolean =>
  status !== 204 && status !== 205 && (status < 300 || status > 399);

export function successStatuses({ successStatus }: RestMeta, output: OperationOutput): readonly number[] {
  if (successStatus !== undefined) return [successStatus].flat();
  if (output.kind === 'bytes' || output.kind === 'events') return [200];
  if (output.responses) return [...output.responses.keys()];
  if (output.schema === undefined) return [200, 204];
  if (isVoid(output.schema)) return [204];
  return acceptsUndefined(output.schema) ? [200, 204] : [200];
}
