import { z } from 'zod';
import { codesOf } from '../procedures/errorCodes.ts';
import type { Procedure } from '../procedures/procedures.ts';
import type { ErrorFormat } from './errorFormat.ts';
import { inspectJson } from './jsonable.ts';
import { reject } from './unservable.ts';

/** The errors that a procedure declares, by status. */
export type OperationErrors = ReadonlyMap<number, readonly DeclaredResponse[]>;

interface DeclaredResponse {
  readonly code: string;
  readonly status: number;
  readonly message: string | undefined;
  readonly data: z.ZodType | undefined;
}

/** @throws {Unservable} for data that JSON cannot carry as it is */
export function operationErrors({ errors = {} }: Procedure): OperationErrors {
  for (const [code, { data }] of Object.entries(errors)) {
    if (data === undefined) continue;
    const { problem, hasDate } = inspectJson(data, 'output');
    if (problem !== undefined) reject(`in the data of its error ${code}, ${problem}`);
    // tRPC's types of errors say what the server has, and a client without a transformer gets a text.
    if (hasDate) reject(`the data of its error ${code} has a date; use z.iso.datetime()`);
  }
  const all = Object.entries(errors).map(([code, { status, message, data }]) => ({
    code,
    status,
    message,
    data,
  }));
  return Map.groupBy(all, ({ status }) => status);
}

/**
 * The schema of the errors of one status, of an operation that declares some: one of those that are declared, and, where
 * there are others too, of those with tRPC's codes. Each has its own `code`, so that a client that narrows on it knows the
 * data: one error whose code could be any text, at whatever status, would take that from it.
 */
export function errorsSchema(
  declared: readonly DeclaredResponse[],
  status: number,
  hasOthers: boolean,
  { schema, schemaOf }: ErrorFormat,
): z.ZodType {
  if (schemaOf === undefined) return schema;
  const schemas = declared.map(({ code, data }) =>
    marked(schemaOf({ codes: [code], status, isDeclared: true, data }), code),
  );
  const [code, ...codes] = hasOthers ? codesOf(status) : [];
  if (code !== undefined) {
    schemas.push(schemaOf({ codes: [code, ...codes], status, isDeclared: false, data: undefined }));
  }
  return schemas.length < 2 ? (schemas[0] ?? schema) : z.xor(schemas as [z.ZodType, ...z.ZodType[]]);
}

/** The keyword by which a schema names its declared error, until the document is complete. */
export const errorKey = 'x-gateway-error';

/** A schema that names its error; one with a name of its own as it is. */
function marked(schema: z.ZodType, code: string): z.ZodType {
  const meta = schema.meta();
  return meta?.id === undefined ? schema.meta({ ...meta, [errorKey]: code }) : schema;
}

/** What the document says of the errors of one status. */
export const errorsDescription = (declared: readonly DeclaredResponse[], others?: string): string =>
  [
    ...declared.map(({ code, message }) =>
      message === undefined ? `\`${code}\`.` : `\`${code}\`: ${message}`,
    ),
    ...(others === undefined ? [] : [others]),
  ].join(' ');
