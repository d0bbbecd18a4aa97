import type { TRPCError } from '@trpc/server';
import { z } from 'zod';
import { statusText } from '../http/statusText.ts';
import { codeMessage } from '../procedures/clientError.ts';
import type { InputIssue } from '../procedures/inputError.ts';

/**
 * An error of a REST response. `message` is for the client: it never holds a stack, a path or a driver's text.
 */
export interface RestError {
  /** tRPC's code name, such as `NOT_FOUND`, or the code of a declared error. */
  readonly code: string;
  readonly message: string;
  /** The HTTP status. */
  readonly status: number;
  /** Whether the procedure declares the error. */
  readonly isDeclared: boolean;
  /** The data of a declared error, as its schema returned it. */
  readonly data: unknown;
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
  /**
   * The schema of the bodies of one status that have one of these codes: the document lists declared errors by it.
   * Without it the document has `schema` for them too.
   */
  readonly schemaOf?: (errors: DescribedErrors) => z.ZodType;
}

/** Errors of one status that the document describes together. */
export interface DescribedErrors {
  readonly codes: readonly [string, ...string[]];
  readonly status: number;
  /** Whether it is one error, and a procedure declares it. */
  readonly isDeclared: boolean;
  /** The data of a declared error. */
  readonly data: z.ZodType | undefined;
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

/** `{ code, message, status }`: the default. A declared error has its `data` too. */
export const apiErrors: ErrorFormat = {
  contentType: 'application/json',
  schema: ApiError,
  body: ({ code, message, status, data }) => ({ code, message, status, ...(data !== undefined && { data }) }),
  schemaOf: ({ codes, status, data }) =>
    z.object({
      code: z.literal([...codes]),
      message: z.string(),
      status: z.literal(status),
      ...(data && { data }),
    }),
};

export interface ProblemDetailsOptions {
  /**
   * What stands before the code in the `type` of a declared error, such as `https://api.example/problems/`: a page there
   * may describe it. Default: every `type` is `about:blank`.
   */
  readonly typeBase?: string;
}

const problemErrors = z.array(
  z.object({
    pointer: z.string(),
    detail: z.string(),
    in: z.string().optional(),
    name: z.string().optional(),
  }),
);

/** Problem details (RFC 9457), with the offending fields as `errors` and the data of a declared error as `data`. */
export function createProblemDetails({ typeBase }: ProblemDetailsOptions): ErrorFormat {
  const isTyped = ({ isDeclared }: { readonly isDeclared: boolean }) => isDeclared && typeBase !== undefined;
  return {
    contentType: 'application/problem+json',
    schema: z
      .object({
        type: z.literal('about:blank'),
        title: z.string(),
        status: z.int(),
        detail: z.string(),
        code: z.string(),
        errors: problemErrors.optional(),
      })
      .meta({ id: 'Problem' }),
    body: (error) => {
      const { code, message, status, issues, data } = error;
      return {
        type: isTyped(error) ? `${typeBase}${code}` : 'about:blank',
        // The title of `about:blank` is the status's (RFC 9457 §4.2.1).
        title: isTyped(error) ? codeMessage(code) : statusText(status),
        status,
        detail: message,
        code,
        ...(data !== undefined && { data }),
        ...(issues.length > 0 && {
          errors: issues.map(problemError),
        }),
      };
    },
    schemaOf: (errors) =>
      z.object({
        type: z.literal(isTyped(errors) ? `${typeBase}${errors.codes[0]}` : 'about:blank'),
        title: z.string(),
        status: z.literal(errors.status),
        detail: z.string(),
        code: z.literal([...errors.codes]),
        ...(errors.data && { data: errors.data }),
        ...(!errors.isDeclared && { errors: problemErrors.optional() }),
      }),
  };
}

/** Problem details whose `type` is always `about:blank`. */
export const problemDetails: ErrorFormat = createProblemDetails({});

const zodIssues = z.array(
  z.looseObject({
    code: z.string().optional(),
    message: z.string(),
    path: z.array(z.union([z.string(), z.number()])),
  }),
);

/** `{ message, code, issues }`: as trpc-to-openapi. The issues are zod's. */
export const trpcToOpenApiErrors: ErrorFormat = {
  contentType: 'application/json',
  schema: z
    .object({ message: z.string(), code: z.string(), issues: zodIssues.optional() })
    .meta({ id: 'Error' }),
  body: ({ code, message, issues, data }) => ({
    message,
    code,
    ...(data !== undefined && { data }),
    ...(issues.length > 0 && { issues }),
  }),
  schemaOf: ({ codes, isDeclared, data }) =>
    z.object({
      message: z.string(),
      code: z.literal([...codes]),
      ...(data && { data }),
      ...(!isDeclared && { issues: zodIssues.optional() }),
    }),
};

const problemError = ({ path, message: detail, place }: InputIssue) => ({
  pointer: jsonPointer(path),
  detail,
  ...place,
});

/** RFC 6901, as a URI fragment. */
const jsonPointer = (path: readonly PropertyKey[]) =>
  `#${path.map((key) => `/${encodeURIComponent(String(key).replaceAll('~', '~0').replaceAll('/', '~1'))}`).join('')}`;
