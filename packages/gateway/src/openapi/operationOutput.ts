import type { z } from 'zod';
import { isZod } from '../procedures/isZod.ts';
import type { RestMeta } from '../procedures/meta.ts';
import type { Procedure } from '../procedures/procedures.ts';
import { parseFunction } from '../procedures/parseFunction.ts';
import { inspectJson } from './jsonable.ts';
import { reject } from './unservable.ts';
import { isOptional } from './zodSchema.ts';

/** How an output becomes a body. */
export type OperationOutput =
  | { readonly kind: 'json'; readonly schema: z.core.$ZodType }
  | { readonly kind: 'bytes'; readonly contentType: string }
  /** A subscription, each of whose events is parsed. */
  | { readonly kind: 'events'; readonly schema: z.ZodType; readonly parse: (event: unknown) => unknown };

/** @throws {Unservable} */
export function operationOutput(
  { type, output }: Procedure,
  { produces, event, method, successStatus }: RestMeta,
): OperationOutput {
  if (type === 'subscription') {
    if (method !== 'GET') reject(`it is a subscription, so its method must be GET, not ${method}`);
    if (!isZod(event)) {
      return reject('it is a subscription: say in its metadata what an event is, event: z.object(…)');
    }
    return { kind: 'events', schema: jsonOutput(event, 'event'), parse: parseFunction(event) };
  }
  if (event !== undefined) {
    reject(
      `its metadata has an event, but it is a ${type}, not a subscription; remove the event, or use .subscription(…)`,
    );
  }
  if (produces !== undefined) {
    // oxlint-disable-next-line no-control-regex -- these are the characters that a header must not have
    if (/^[^\s/]+\/[^\x00-\x1f]+$/.test(produces)) return { kind: 'bytes', contentType: produces };
    reject(
      `it produces ${JSON.stringify(produces)}, which is not a media type; write it as type/subtype, such as image/png`,
    );
  }
  if (!isZod(output)) {
    return reject(
      'it has no zod output, so the document could not say what it answers; add .output(…), or produces for bytes',
    );
  }
  if ([successStatus].flat()[0] === 200 && isEmpty(output)) {
    reject('its output is nothing and its successStatus 200; leave the status out (204)');
  }
  return { kind: 'json', schema: jsonOutput(output, 'output') };
}

function jsonOutput<Schema extends z.core.$ZodType>(schema: Schema, what: string): Schema {
  const { problem } = inspectJson(schema, 'output');
  return problem === undefined ? schema : reject(`in its ${what}, ${problem}`);
}

export function successStatuses({ successStatus }: RestMeta, output: OperationOutput): readonly number[] {
  if (successStatus !== undefined) return [successStatus].flat();
  if (output.kind !== 'json') return [200];
  if (isEmpty(output.schema)) return [204];
  return isOptional(output.schema, 'output') ? [200, 204] : [200];
}

const isEmpty = (schema: z.core.$ZodType) => ['void', 'undefined'].includes(schema._zod.def.type);
