import type { z } from 'zod';
import { ignoreRejection } from '../http/hooks.ts';
import { isThenable } from '../http/maybePromise.ts';
import { tokenPattern, type Header } from '../http/response.ts';
import { formatValue } from '../http/formatValue.ts';
import { collect, GatewayError, reject, type Problem } from '../checks/gatewayError.ts';
import type { Compatibility, ResponseHeader, RestMeta } from '../procedures/meta.ts';
import type { Procedure } from '../procedures/procedure.ts';
import { deprecationHeaders, type LinkBase } from './deprecation.ts';
import { formSchema } from './formInput.ts';
import { hasDate, requireJson } from './inspectJson.ts';
import { operationInput, type OperationInput } from './operationInput.ts';
import { operationOutput, successStatuses, type OperationOutput } from './operationOutput.ts';
import {
  foldTemplate,
  hasAffixes,
  isAmbiguous,
  parsePathTemplate,
  templateKey,
  type PathTemplate,
} from './pathTemplate.ts';
import { createReadSchema, idsIn, readZod, type ReadSchema } from '../schemas/readSchema.ts';
import type { Schema } from '../schemas/schema.ts';

/** An error that a procedure declares. */
export interface DeclaredResponse {
  readonly code: string;
  readonly status: number;
  readonly message: string | undefined;
  readonly data: z.ZodType | undefined;
}

/** REST metadata with the method and the path, of the procedure's metadata or by default. */
type ServedRestMeta = RestMeta & Required<Pick<RestMeta, 'method' | 'path'>>;

/** A REST operation: how a procedure is served and documented, derived once from its metadata and schemas. */
export interface Operation {
  readonly procedure: Procedure;
  /** The schemas of its inputs; the one of the form if the procedure receives a `FormData`. */
  readonly inputs: readonly (Schema | undefined)[];
  readonly rest: ServedRestMeta;
  readonly operationId: string;
  readonly template: PathTemplate;
  readonly input: OperationInput;
  readonly output: OperationOutput;
  /** The errors that the procedure declares, by status. */
  readonly errors: ReadonlyMap<number, readonly DeclaredResponse[]>;
  /** The success statuses; the first is the default. */
  readonly statuses: readonly number[];
  /** The deprecation headers of 2xx and 404. */
  readonly deprecation: readonly Header[];
  /** These with the type of a JSON body, for 2xx. It is always the same array, so that adapters can cache its encoded form. */
  readonly jsonHeaders: readonly Header[];
  readonly computedHeaders: readonly (readonly [name: string, header: ResponseHeader])[];
}

export interface OperationsOptions {
  readonly basePath: string;
  readonly links: LinkBase;
  /** Whether a path is already used by the document, a route or tRPC. */
  readonly isTaken: (path: string) => boolean;
  /** Whether the option `spool` is set, so that files can be stored outside of memory. */
  readonly canSpool: boolean;
  /** Returns the operation id of a procedure whose metadata has none. */
  readonly operationId: (path: string) => string;
  /** How paths are matched; and how inputs are read and the status without output, unless the metadata says otherwise. */
  readonly compatibility: Compatibility | undefined;
}

/** The operations of a router, and why the others cannot be served. */
export interface Operations {
  readonly operations: readonly Operation[];
  readonly problems: readonly Problem[];
  /** What the document leaves out. */
  readonly warnings: readonly Problem[];
}

export function readOperations(procedures: readonly Procedure[], options: OperationsOptions): Operations {
  const problems: Problem[] = [];
  const warnings: Problem[] = [];
  const operations = new Map<string, Operation>();
  const ids = new Map<string, string>();
  for (const procedure of procedures) {
    const { path: name, rest } = procedure;
    if (rest === undefined) continue;
    const read = createReadSchema((sentence) => {
      warnings.push({ procedure: name, part: 'rest', line: `procedure "${name}": ${sentence}` });
    });
    try {
      const operation = createOperation(procedure, rest, { ...options, read });
      checkSchemas(operation);
      collect([
        () => checkUpload(operation, options),
        () => checkId(operation, ids),
        () => checkPath(operation, operations, options),
      ]);
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      const fix = !procedure.meta?.openapi ? '; or leave it out, with openapi: false in its metadata' : '';
      for (const reason of new Set(error.message.split('\n'))) {
        const line = `Procedure "${name}" cannot be served over REST: ${reason}${fix}.`;
        problems.push({ procedure: name, part: 'rest', line });
      }
    }
  }
  return { operations: [...operations.values()], problems, warnings };
}

/** @throws {GatewayError} */
function checkUpload({ input, procedure }: Operation, { canSpool }: OperationsOptions): void {
  const upload = input.body?.upload;
  if (upload?.kind === 'spool' && !canSpool) {
    reject(
      'its upload.spool requires the option spool of createGateway, such as temporaryFiles() of trpc-gateway/node',
    );
  }
  if (upload && procedure.isReplayed) {
    reject(
      `its idempotencyKey is '${procedure.idempotencyKey}', but its body is a stream, which cannot be compared with the body of a retry; remove one of them`,
    );
  }
}

/** @throws {GatewayError} */
function checkId({ operationId, procedure }: Operation, ids: Map<string, string>): void {
  const other = ids.get(operationId);
  ids.set(operationId, procedure.path);
  if (other !== undefined) {
    reject(`"${other}" has the operationId "${operationId}" too; give one of them another operationId`);
  }
}

/** @throws {GatewayError} */
function checkPath(
  operation: Operation,
  operations: Map<string, Operation>,
  { basePath, compatibility, isTaken }: OperationsOptions,
): void {
  const { method, path } = operation.rest;
  const route = `${method} ${templateKey(operation.template, compatibility !== undefined)}`;
  const same = operations.get(route);
  if (same === undefined) operations.set(route, operation);
  else {
    const other = same.rest.path === path ? ' too' : `, which matches the same paths as ${path}`;
    // trpc-to-openapi serves the first one only.
    const fix = operation.procedure.meta?.openapi ? ', or enabled: false' : '';
    reject(
      `"${same.procedure.path}" is served at ${method} ${same.rest.path}${other}; give one of them another path or method${fix}`,
    );
  }
  const fold = (template: PathTemplate) => (compatibility ? foldTemplate(template) : template);
  const folded = fold(operation.template);
  const rival =
    hasAffixes(folded) &&
    [...operations.values()].find(
      ({ template }) => hasAffixes(template) && isAmbiguous(fold(template), folded),
    );
  if (rival) {
    reject(
      `some paths match both its path ${path} and ${rival.rest.path} of "${rival.procedure.path}", and neither is more specific; give one of them another path`,
    );
  }
  if (isTaken(`${basePath}${path}`)) {
    reject(
      `${basePath}${path} is the path of the document or of a route, or lies below the tRPC base path; give it another path`,
    );
  }
}

/** Checks the names that the document has of an operation. @throws {GatewayError} */
function checkSchemas({ inputs, output, rest }: Operation): void {
  for (const [id] of idsIn([...inputs, 'schema' in output ? output.schema : undefined])) {
    if (/^[\w.-]+$/.test(id)) continue;
    reject(
      `a schema in it has the id "${id}", but names in the document contain only letters, digits, ".", "_" and "-"; change its .meta({ id: … })`,
    );
  }
  for (const [field, headers] of Object.entries({
    requestHeaders: rest.requestHeaders?._zod.def.shape,
    responseHeaders: rest.responseHeaders?._zod.def.shape,
    headers: rest.headers,
  })) {
    for (const name of Object.keys(headers ?? {})) {
      if (tokenPattern.test(name)) continue;
      reject(`its ${field} has "${name}", which is not a valid name of a header (RFC 9110 §5.1); rename it`);
    }
  }
}

interface ReadOptions extends OperationsOptions {
  readonly read: ReadSchema;
}

/** Reads the schemas of the inputs, and the path and the method by which they are sent. @throws {GatewayError} */
function readInputs(
  procedure: Procedure,
  written: RestMeta,
  path: string,
  { basePath, compatibility, read }: ReadOptions,
) {
  const [schemas, template] = collect([
    () => collect(procedure.inputs.map((input) => () => read(input, 'input', 'input'))),
    () => {
      if (basePath !== '' && written.path?.startsWith(`${basePath}/`)) {
        reject(
          `its path ${path} begins with the base path, which is added to it; leave it out, or set restBasePath: '/'`,
        );
      }
      const matched = compatibility && path.length > 1 ? path.replace(/\/$/, '') : path;
      return (
        parsePathTemplate(matched) ??
        reject(
          `its path is ${path}; write it as /name/{parameter}, with at most one parameter between slashes, and without a slash at the end`,
        )
      );
    },
  ]);
  const form = formSchema(schemas, written);
  const inputs = form ? [form] : schemas;
  const inputOf = (meta: RestMeta) => operationInput(inputs, meta, template, procedure.inputs);
  const strictGet = { ...written, method: 'GET', compatibility: undefined } as const;
  const { method = defaultMethod(procedure, () => inputOf(strictGet)) } = written;
  return { inputs, inputOf, method, template };
}

/** @throws {GatewayError} if the metadata or the schemas cannot be served; the message has the reason and the fix */
function createOperation(procedure: Procedure, written: RestMeta, options: ReadOptions): Operation {
  const { links, read } = options;
  const { path = `/${procedure.path.replaceAll('.', '/')}` } = written;
  const [{ inputs, inputOf, method, template }, output] = collect([
    () => readInputs(procedure, written, path, options),
    () => operationOutput(procedure, written, read),
  ]);
  const { compatibility = options.compatibility } = written;
  const rest: ServedRestMeta = { ...written, method, path, compatibility };
  const isMutation = procedure.type === 'mutation';
  const [input] = collect([
    () => inputOf(rest),
    () => {
      // Caches, crawlers and HEAD requests must not trigger a mutation.
      if (!isMutation || rest.method !== 'GET') return;
      reject('it is a mutation, but GET must not change anything; use POST, PUT, PATCH or DELETE');
    },
  ]);
  const cursor = rest.pagination?.cursor;
  collect([
    () => {
      if (!rest.upload || input.body?.upload) return;
      reject(
        'its metadata has upload, but its input has no stream and no files in multipart/form-data; remove upload',
      );
    },
    () => {
      if (cursor === undefined || (!input.body && input.query.has(cursor))) return;
      reject(
        `its pagination names the cursor "${cursor}", but its query has no such parameter; add it to the input, or name another parameter`,
      );
    },
  ]);
  const deprecation = deprecationHeaders(rest.deprecation, links);
  return {
    procedure,
    inputs,
    rest,
    operationId: rest.operationId ?? defaultId(procedure.path, options.operationId),
    template,
    input,
    output,
    errors: operationErrors(procedure),
    statuses: successStatuses(rest, output),
    deprecation,
    jsonHeaders: [...deprecation, ['content-type', 'application/json']],
    computedHeaders: Object.entries(rest.headers ?? {}),
  };
}

/** Returns the method if the metadata has none. `fitsUrl` throws a `GatewayError` if a URL has no place for it */
function defaultMethod({ type }: Procedure, fitsUrl: () => unknown): 'GET' | 'POST' {
  if (type === 'mutation') return 'POST';
  try {
    fitsUrl();
  } catch (error) {
    if (type === 'query' && error instanceof GatewayError) return 'POST';
    throw error;
  }
  return 'GET';
}

/** @throws {GatewayError} if `document.operationId` returns no string */
function defaultId(path: string, operationId: (path: string) => unknown): string {
  const id = operationId(path);
  if (typeof id === 'string' && id !== '') return id;
  if (isThenable(id)) ignoreRejection(id);
  return reject(`document.operationId returned ${formatValue(id)} for it; return a string, such as its path`);
}

/** @throws {GatewayError} for data that JSON cannot represent unchanged */
function operationErrors({ errors = {} }: Procedure): Operation['errors'] {
  const declared = Object.entries(errors).map(([code, { status, message, data }]) => {
    const schema = data && readZod(data, 'output');
    if (schema) requireJson(schema, `error ${code}`);
    // tRPC types the data as a Date on the client, but without a transformer the client receives a string.
    if (schema && hasDate(schema))
      reject(`the data of its error ${code} contains a date; use z.iso.datetime()`);
    // Of any copy of zod, all of which take it in an object.
    return { code, status, message, data: data as z.ZodType | undefined };
  });
  return Map.groupBy(declared, ({ status }) => status);
}
