import { hasNoBody } from '../http/response.ts';
import { reject } from '../checks/gatewayError.ts';
import type { MediaWriter, RestMeta } from '../procedures/meta.ts';
import type { Procedure } from '../procedures/procedure.ts';
import { eventFunction } from '../procedures/asyncOutput.ts';
import type { Parser } from '../procedures/parseFunction.ts';
import { requireJson } from './inspectJson.ts';
import { InferredOutput } from '../schemas/inferredOutput.ts';
import type { ReadSchema } from '../schemas/readSchema.ts';
import { acceptsUndefined, isVoid, type Schema } from '../schemas/schema.ts';

/** How the output of a procedure is sent as a body. */
export type OperationOutput = JsonOutput | MediaOutput | BytesOutput | EventsOutput;

interface JsonOutput {
  readonly kind: 'json';
  /** `undefined` if the procedure has no output schema, or one that the document cannot describe. */
  readonly schema: Schema | undefined;
}

/** An output with several media types; `Accept` chooses one. */
interface MediaOutput {
  readonly kind: 'media';
  readonly schema: Schema | undefined;
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
    if (method !== undefined && method !== 'GET')
      reject(`it is a subscription, so its method must be GET, not ${method}`);
    const inferred = procedure.output instanceof InferredOutput ? procedure.output : undefined;
    const schema =
      read(event ?? inferred, 'output', 'event') ??
      reject('it is a subscription without a schema of its events; add event: z.object(…) to its metadata');
    requireJson(schema, 'event');
    return { kind: 'events', schema, parse: eventFunction(event as Parser | undefined) };
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
  const schema = read(procedure.output, 'output', 'output');
  if (schema) requireJson(schema, 'output');
  return produces === undefined
    ? { kind: 'json', schema }
    : { kind: 'media', schema, types: mediaTypes(produces) };
}

function mediaTypes(produces: Readonly<Record<string, true | MediaWriter>>): MediaTypes {
  const types = new Map(Object.entries(produces));
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

/** Whether a successful response of this status has a body. 204, 205 and redirects have none. */
export const statusHasBody = (status: number): boolean =>
  !hasNoBody(status) && (status < 300 || status > 399);

export function successStatuses(
  { compatibility, successStatus }: RestMeta,
  output: OperationOutput,
): readonly number[] {
  if (successStatus !== undefined) return [successStatus].flat();
  if (output.kind === 'bytes' || output.kind === 'events') return [200];
  // The writer of a media type may not encode `undefined`.
  const emptyStatus = output.kind === 'json' && compatibility ? 200 : 204;
  if (output.schema && isVoid(output.schema)) return [emptyStatus];
  const canBeEmpty = output.schema === undefined || acceptsUndefined(output.schema);
  return canBeEmpty && emptyStatus !== 200 ? [200, emptyStatus] : [200];
}
