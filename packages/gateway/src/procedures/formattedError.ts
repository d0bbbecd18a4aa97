import { getErrorShape, type TRPCError } from '@trpc/server';
import { getHTTPStatusCodeFromError } from '@trpc/server/http';
import { clientMessage } from './clientError.ts';
import { DeclaredError, type ErrorDefinition, type ErrorDefinitions } from './declareErrors.ts';
import { codeMessage, isErrorStatus, trpcCodeOf } from './errorCodes.ts';

/** The parts of an error that clients receive, as shaped by a formatter of `.errors()`. */
export interface FormattedError {
  readonly code: string;
  readonly message: string;
  readonly status: number;
  readonly isDeclared: boolean;
  readonly data: unknown;
}

/**
 * Returns the parts of an error that clients receive, if a formatter of `.errors()` has shaped it: everything for a
 * declared error, whose `data.code` is among the definitions; for any other the status and the message of the shape.
 * @returns `undefined` for an error that no formatter has changed
 * @throws if the data of a shape does not match the definition
 */
export function formattedError(error: TRPCError, definitions: ErrorDefinitions): FormattedError | undefined {
  const shape = formattedShape(error);
  if (shape === undefined) return undefined;
  const { code, data } = shape.data ?? {};
  const definition =
    typeof code === 'string' && Object.hasOwn(definitions, code) ? definitions[code] : undefined;
  if (code === undefined || definition === undefined) return undeclaredError(error, shape);
  const isOwn = error instanceof DeclaredError && error.definition === definition;
  return {
    code,
    message: isOwn ? error.message : declaredMessage(error, shape, definition),
    status: definition.status,
    isDeclared: true,
    data: isOwn ? error.data : definition.data?.parse(data),
  };
}

/** Returns the HTTP status of an error: the one in its shape by a formatter of `.errors()`, or that of its code. */
export const errorStatusOf = (error: TRPCError): number => formattedStatus(error, formattedShape(error));

function formattedStatus(error: TRPCError, shape: FormattedShape | undefined): number {
  const { httpStatus } = shape?.data ?? {};
  return isErrorStatus(httpStatus) ? httpStatus : getHTTPStatusCodeFromError(error);
}

function undeclaredError(error: TRPCError, shape: FormattedShape): FormattedError | undefined {
  const { message } = shape;
  const ownStatus = getHTTPStatusCodeFromError(error);
  const status = formattedStatus(error, shape);
  const code = status === ownStatus ? error.code : trpcCodeOf(status);
  const isReworded = message !== error.message;
  if (status === ownStatus && !isReworded) return undefined;
  return {
    code,
    message: isReworded ? message : codeMessage(code),
    status,
    isDeclared: false,
    data: undefined,
  };
}

/** Returns the message of the shape if the formatter changed it: the error's own may be a driver's text. */
function declaredMessage(error: TRPCError, { message }: FormattedShape, definition: ErrorDefinition): string {
  return message === error.message ? (definition.message ?? clientMessage(error)) : message;
}

interface FormattedShape {
  readonly message: string;
  readonly data?:
    | { readonly code?: string; readonly httpStatus?: unknown; readonly data?: unknown }
    | undefined;
}

/**
 * Returns the shape of an error by a formatter of `.errors()`, which tRPC stores under a private symbol of the error.
 */
function formattedShape(error: TRPCError): FormattedShape | undefined {
  const config = { isDev: false, errorFormatter: () => undefined };
  return getErrorShape({ config, error, ...unknownCall } as unknown as Parameters<
    typeof getErrorShape
  >[0]) as FormattedShape | undefined;
}

/** Whether a formatter of `.errors()` has shaped an error. */
export const isFormatted = (error: TRPCError): boolean => formattedShape(error) !== undefined;

/** The context of an error that belongs to no call. */
export const unknownCall = { type: 'unknown', path: undefined, input: undefined, ctx: undefined } as const;
