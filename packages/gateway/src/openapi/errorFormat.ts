import type { TRPCError } from '@trpc/server';
import { z } from 'zod';
import { statusText } from '../http/statusText.ts';
import type { InputIssue } from '../procedures/inputError.ts';

/**
 * An error of a REST response. `message` is for the client: it never holds a stack, a path or a driver's text.
 */
export interface RestError {
  /** tRPC's code name, such as `NOT_FOUND`. */
  readonly code: string;
  readonly message: string;
  /** The HTTP status. */
  readonly status: number;
  /** The offending fields of an input, in order, as zod reports them. Empty for other errors. */
  readonly issues: readonly InputIssue[];
  /**
   * The error itself, with its `cause`, for a format with data of its own. A cause may hold a driver's text or a
   * path: pick from it what clients may see. `undefined` where the head of a request was rejected (400, 414, 431).
   */
  readonly error: TRPCError | undefined;
}

/** The format of REST errors, in responses and in the document. */
export interface ErrorFormat {
  readonly contentType: string;
  readonly schema: z.ZodType;
  readonly body: (error: RestError) => object;
}

/** The body of every REST error by default. */
export const ApiError = z
  .object({
    code: z.string().meta({ description: 'Machine-readable error code.', examples: ['NOT_FOUND'] }),
    message: z.string().meta({ description: 'Human-readable description.' }),
    status: z.int().min(400).max(599).meta({ description: 'The HTTP status code.' }),
  })
  .meta({ id: 'Error', description: 'What went wrong.' });
export type ApiError = z.output<typeof ApiError>;

/** `{ code, message, status }`: the default. */
export const apiErrors: ErrorFormat = {
  contentType: 'application/json',
  schema: ApiError,
  body: ({ code, message, status }) => ({ code, message, status }),
};

/** Problem details (RFC 9457), with the offending fields as `errors`. */
export const problemDetails: ErrorFormat = {
  contentType: 'application/problem+json',
  schema: z
    .object({
      type: z.literal('about:blank'),
      title: z.string(),
      status: z.int(),
      detail: z.string(),
      code: z.string(),
      errors: z.array(z.object({ pointer: z.string(), detail: z.string() })).optional(),
    })
    .meta({ id: 'Problem' }),
  body: ({ code, message, status, issues }) => ({
    type: 'about:blank',
    title: statusText(status),
    status,
    detail: message,
    code,
    ...(issues.length > 0 && {
      errors: issues.map(({ path, message: detail }) => ({ pointer: jsonPointer(path), detail })),
    }),
  }),
};

/** `{ message, code, issues }`: as trpc-to-openapi. The issues are zod's. */
export const trpcToOpenApiErrors: ErrorFormat = {
  contentType: 'application/json',
  schema: z
    .object({
      message: z.string(),
      code: z.string(),
      issues: z
        .array(
          z.looseObject({
            code: z.string().optional(),
            message: z.string(),
            path: z.array(z.union([z.string(), z.number()])),
          }),
        )
        .optional(),
    })
    .meta({ id: 'Error' }),
  body: ({ code, message, issues }) => ({ message, code, ...(issues.length > 0 && { issues }) }),
};

/** RFC 6901, as a URI fragment. */
const jsonPointer = (path: readonly PropertyKey[]) =>
  `#${path.map((key) => `/${encodeURIComponent(String(key).replaceAll('~', '~0').replaceAll('/', '~1'))}`).join('')}`;
