import { getErrorShape, type TRPCError } from '@trpc/server';
import { getHTTPStatusCodeFromError } from '@trpc/server/http';
import { clientMessage, codeMessage } from './clientError.ts';
import { DeclaredError, type ErrorDefinition, type ErrorDefinitions } from './declareErrors.ts';
import { trpcCodeOf } from './errorCodes.ts';

/** What clients see of an error that a formatter of `.errors()` has shaped. */
export interface ShownError {
  readonly code: string;
  readonly message: string;
  readonly status: number;
  readonly isDeclared: boolean;
  readonly data: unknown;
}

/**
 * What clients see of an error that a formatter of `.errors()` has shaped: all of a declared error, whose `data.code` is
 * among the definitions; of any other the status and the message that the formatter wrote.
 * @returns `undefined` for an error that no formatter has changed
 * @throws where the data of a shape does not fit the definition
 */
export function shownError(error: TRPCError, definitions: ErrorDefinitions): ShownError | undefined {
  const shape = formattedShape(error);
  if (shape === undefined) return undefined;
  const { code, data } = shape.data ?? {};
  const definition =
    typeof code === 'string' && Object.hasOwn(definitions, code) ? definitions[code] : undefined;
  if (code === undefined || definition === undefined) return undeclaredError(error, shape);
  const isOwn = error instanceof DeclaredError && error.definition === definition;
  return {
    code,
    message: isOwn ? error.message : messageOf(error, shape, definition),
    status: definition.status,
    isDeclared: true,
    data: isOwn ? error.data : definition.data?.parse(data),
  };
}

/** The HTTP status of an error: the one that a formatter of `.errors()` wrote, or that of its code. */
export const shownStatus = (error: TRPCError): number => statusOf(error, formattedShape(error));

function statusOf(error: TRPCError, shape: FormattedShape | undefined): number {
  const { httpStatus } = shape?.data ?? {};
  return isErrorStatus(httpStatus) ? httpStatus : getHTTPStatusCodeFromError(error);
}

function undeclaredError(error: TRPCError, shape: FormattedShape): ShownError | undefined {
  const { message } = shape;
  const ownStatus = getHTTPStatusCodeFromError(error);
  const status = statusOf(error, shape);
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

const isErrorStatus = (status: unknown): status is number =>
  typeof status === 'number' && Number.isInteger(status) && status >= 400 && status <= 599;

/** Unless the formatter wrote its own, the message of a shape is the error's, which may be a driver's. */
function messageOf(error: TRPCError, { message }: FormattedShape, definition: ErrorDefinition): string {
  return message === error.message ? (definition.message ?? clientMessage(error)) : message;
}

interface FormattedShape {
  readonly message: string;
  readonly data?:
    | { readonly code?: string; readonly httpStatus?: unknown; readonly data?: unknown }
    | undefined;
}

/** The shape that a formatter of `.errors()` gave an error: tRPC keeps it in a symbol of its own. */
function formattedShape(error: TRPCError): FormattedShape | undefined {
  const config = { isDev: false, errorFormatter: () => undefined };
  return getErrorShape({ config, error, ...unknown } as unknown as Parameters<typeof getErrorShape>[0]) as
    | FormattedShape
    | undefined;
}

const unknown = { type: 'unknown', path: undefined, input: undefined, ctx: undefined };
