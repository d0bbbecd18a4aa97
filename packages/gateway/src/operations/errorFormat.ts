import type { TRPCError } from '@trpc/server';
import type { TRPCErrorShape } from '@trpc/server/rpc';
import * as z from 'zod';
import { statusText } from '../http/response.ts';
import { apiErrorSchema } from '../procedures/errorCodes.ts';
import type { InputIssue } from '../procedures/inputError.ts';
import { ownMetadata, type ZodSchema } from '../schemas/zodSchema.ts';

/** An error of a REST response, for `ErrorFormat.body`. */
export interface RestError {
  /** tRPC's code name, such as `NOT_FOUND`, or the code of a declared error. */
  readonly code: string;
  /** tRPC's code name, also of a declared error; `code` for a status without one, such as 406. `shape` has it too. */
  readonly trpcCode: string;
  /** The message for the client. It never contains a stack, a file path or a message of a driver. */
  readonly message: string;
  readonly status: number;
  /** Whether the procedure declares the error. */
  readonly isDeclared: boolean;
  /** The data of a declared error, as parsed by its schema; `undefined` without data. */
  readonly data: unknown;
  /** The invalid fields of an input, in order, with zod's issues. Empty for other errors. */
  readonly issues: readonly InputIssue[];
  /**
   * The error itself with its `cause`, after `mapError`, for custom formats. A cause may contain messages of a driver or
   * file paths: copy only what clients may see.
   */
  readonly error: TRPCError;
  /**
   * The error as tRPC clients receive it, from the router's `errorFormatter` or a formatter of `.errors()`, which runs
   * when the property is read. It has the message of an unexpected error only with `maskUnexpectedErrors: false`, and
   * never the stack that tRPC adds with `isDev`.
   */
  readonly shape: TRPCErrorShape;
}

/** A format of REST errors, for responses and for the OpenAPI document. */
export interface ErrorFormat {
  /** The media type of error responses. */
  readonly contentType: string;
  /** The schema of every error body. */
  readonly schema: ZodSchema;
  /** Returns the body of an error response, synchronously. */
  readonly body: (error: RestError) => object;
  /**
   * Returns the schema of error bodies with the given status and codes, synchronously, so that the document describes
   * declared errors one by one. Default: the document uses `schema` for them too.
   */
  readonly schemaOf?: (errors: DescribedErrors) => ZodSchema;
}

/** Errors with one status that the document describes with one schema. */
export interface DescribedErrors {
  readonly codes: readonly [string, ...string[]];
  readonly status: number;
  /** Whether these are a single error that a procedure declares. */
  readonly isDeclared: boolean;
  /** The schema of the data of a declared error. If your zod is another version than the gateway's, cast it to yours. */
  readonly data: z.ZodType | undefined;
}

/** The default format: `{ code, message, status }`. A declared error also has its `data`. */
export const apiErrors: ErrorFormat = {
  contentType: 'application/json',
  schema: apiErrorSchema,
  body: ({ code, message, status, data }) => ({ code, message, status, data }),
  schemaOf: ({ codes, status, data }) =>
    z.object({
      code: z.literal([...codes]),
      message: z.string(),
      status: z.literal(status),
      ...(data && { data }),
    }),
};

const problemErrors = z.array(
  z.object({
    pointer: z.string(),
    detail: z.string(),
    in: z.string().optional(),
    name: z.string().optional(),
  }),
);

/** Returns the schema of problem details: of any, or of the described ones. */
const problemSchema = (errors?: DescribedErrors) =>
  z.object({
    type: z.literal('about:blank'),
    title: z.string(),
    status: errors ? z.literal(errors.status) : z.int(),
    detail: z.string(),
    code: codeSchema(errors),
    ...(errors?.data && { data: errors.data }),
    ...(!errors?.isDeclared && { errors: problemErrors.optional() }),
  });

const codeSchema = (errors: DescribedErrors | undefined) =>
  errors ? z.literal([...errors.codes]) : z.string();

/** Problem details (RFC 9457): `type` is `about:blank`, `errors` are the invalid fields, `data` that of a declared error. */
export const problemDetails: ErrorFormat = {
  contentType: 'application/problem+json',
  schema: problemSchema().register(ownMetadata, { id: 'Problem' }),
  body: ({ code, message, status, issues, data }) => ({
    type: 'about:blank',
    // For `about:blank`, the title is the status text (RFC 9457 §4.2.1).
    title: statusText(status),
    status,
    detail: message,
    code,
    data,
    errors: issues.length > 0 ? issues.map(problemError) : undefined,
  }),
  schemaOf: problemSchema,
};

const problemError = ({ path, message: detail, place }: InputIssue) => ({
  pointer: jsonPointer(path),
  detail,
  ...place,
});

/** Formats a path as a JSON Pointer (RFC 6901) in a URI fragment. */
const jsonPointer = (path: readonly PropertyKey[]) =>
  `#${path.map((key) => `/${encodeURIComponent(String(key).replaceAll('~', '~0').replaceAll('/', '~1'))}`).join('')}`;
