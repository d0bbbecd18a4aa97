import { z } from 'zod';
import { codesOf } from '../procedures/errorCodes.ts';
import type { Procedure } from '../procedures/procedures.ts';
import type { ErrorFormat } from './errorFormat.ts';
import { inspectJson } from './inspectJson.ts';
import { reject } from './unservableError.ts';

/** The errors that a procedure declares, by status. */
export type OperationErrors = ReadonlyMap<number, readonly DeclaredResponse[]>;

interface DeclaredResponse {
  readonly code: string;
  readonly status: number;
  readonly message: string | undefined;
  readonly data: z.ZodType | undefined;
}

/** @throws {UnservableError} for data that JSON cannot represent unchanged */
export function operationErrors({ errors = {} }: Procedure): OperationErrors {
  for (const [code, { data }] of Object.entries(errors)) {
    if (data === undefined) continue;
    const { problem, hasDate } = inspectJson(data, 'output');
    if (problem !== undefined) reject(`in the data of its error ${code}, ${problem}`);
    // tRPC types the data as a Date on the client, but without a transformer the client receives a string.
    if (hasDate) reject(`the data of its error ${code} contains a date; use z.iso.datetime()`);
  }
  const declaredErrors = Object.entries(errors).map(([code, { status, message, data }]) => ({
    code,
    status,
    message,
    data,
  }));
  return Map.groupBy(declaredErrors, ({ status }) => status);
}

/**
 * Creates the schema of all errors with one status, for an operation that declares errors: one alternative per declared
 * error, and one for tRPC's codes if other errors are possible. Each alternative has a literal `code`, so that clients
 * can narrow on it; a single alternative with `code: string` would break narrowing.
 */
export function errorsSchema(
  declared: readonly DeclaredResponse[],
  status: number,
  hasOthers: boolean,
  { schema, schemaOf }: ErrorFormat,
): z.ZodType {
  if (schemaOf === undefined) return schema;
  const schemas = declared.map(({ code, data }) =>
    withErrorCode(schemaOf({ codes: [code], status, isDeclared: true, data }), code),
  );
  const [code, ...codes] = hasOthers ? codesOf(status) : [];
  if (code !== undefined) {
    schemas.push(schemaOf({ codes: [code, ...codes], status, isDeclared: false, data: undefined }));
  }
  return schemas.length < 2 ? (schemas[0] ?? schema) : z.xor(schemas as [z.ZodType, ...z.ZodType[]]);
}

/** The keyword that marks the schema of a declared error with its code. `moveErrors` removes it. */
export const errorKey = 'x-gateway-error';

/** Marks a schema with its error code. A schema with an `id` is returned unchanged. */
function withErrorCode(schema: z.ZodType, code: string): z.ZodType {
  const meta = schema.meta();
  return meta?.id === undefined ? schema.meta({ ...meta, [errorKey]: code }) : schema;
}

/** Returns the description of the errors with one status. */
export const errorsDescription = (declared: readonly DeclaredResponse[], others?: string): string =>
  [
    ...declared.map(({ code, message }) =>
      message === undefined ? `\`${code}\`.` : `\`${code}\`: ${message}`,
    ),
    ...(others === undefined ? [] : [others]),
  ].join(' ');
