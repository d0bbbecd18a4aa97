import { getErrorShape, type TRPCError } from '@trpc/server';
import { clientMessage } from './clientError.ts';
import { DeclaredError, type ErrorDefinition, type ErrorDefinitions } from './declareErrors.ts';

/** What clients see of a declared error. */
export interface ShownError {
  readonly code: string;
  readonly message: string;
  readonly status: number;
  readonly data: unknown;
}

/**
 * What clients see of an error that its procedure declares: a formatter of `.errors()` has shaped it, and `data.code` of
 * the shape is among the definitions.
 * @returns `undefined` for every other error
 * @throws where the data of a shape does not fit the definition
 */
export function shownError(error: TRPCError, definitions: ErrorDefinitions): ShownError | undefined {
  const shape = formattedShape(error);
  const code = shape?.data?.code;
  const definition =
    typeof code === 'string' && Object.hasOwn(definitions, code) ? definitions[code] : undefined;
  if (shape === undefined || code === undefined || definition === undefined) return undefined;
  const isOwn = error instanceof DeclaredError && error.definition === definition;
  return {
    code,
    message: isOwn ? error.message : messageOf(error, shape, definition),
    status: definition.status,
    data: isOwn ? error.data : definition.data?.parse(shape.data?.data),
  };
}

/** Unless the formatter wrote its own, the message of a shape is the error's, which may be a driver's. */
function messageOf(error: TRPCError, { message }: FormattedShape, definition: ErrorDefinition): string {
  return message === error.message ? (definition.message ?? clientMessage(error)) : message;
}

interface FormattedShape {
  readonly message: string;
  readonly data?: { readonly code?: string; readonly data?: unknown } | undefined;
}

/** The shape that a formatter of `.errors()` gave an error: tRPC keeps it in a symbol of its own. */
function formattedShape(error: TRPCError): FormattedShape | undefined {
  const config = { isDev: false, errorFormatter: () => undefined };
  return getErrorShape({ config, error, ...unknown } as unknown as Parameters<typeof getErrorShape>[0]) as
    | FormattedShape
    | undefined;
}

const unknown = { type: 'unknown', path: undefined, input: undefined, ctx: undefined };
