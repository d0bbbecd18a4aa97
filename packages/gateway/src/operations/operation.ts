import type { z } from 'zod';
import type { Header } from '../http/response.ts';
import { GatewayError, reject } from '../http/gatewayError.ts';
import type { ResponseHeader, RestMeta } from '../procedures/meta.ts';
import type { Procedure } from '../procedures/procedures.ts';
import { isZod } from '../procedures/standardSchema.ts';
import { deprecationHeaders, type LinkBase } from './deprecation.ts';
import { hasDate, requireJson } from './inspectJson.ts';
import { operationInput, type OperationInput } from './operationInput.ts';
import { operationOutput, successStatuses, type OperationOutput } from './operationOutput.ts';
import { parsePathTemplate, type PathTemplate } from './pathTemplate.ts';
import { createReadSchema, readZod, type ReadSchema } from './readSchema.ts';
import type { Schema } from './schema.ts';

/** An error that a procedure declares. */
export interface DeclaredResponse {
  readonly code: string;
  readonly status: number;
  readonly message: string | undefined;
  readonly data: z.ZodType | undefined;
}

/** A REST operation: how a procedure is served and documented, derived once from its metadata and schemas. */
export interface Operation {
  readonly procedure: Procedure;
  /** The schemas of its inputs. */
  readonly inputs: readonly (Schema | undefined)[];
  readonly rest: RestMeta;
  readonly template: PathTemplate;
  readonly input: OperationInput;
  readonly output: OperationOutput;
  /** The errors that the procedure declares, by status. */
  readonly errors: ReadonlyMap<number, readonly DeclaredResponse[]>;
  /** The success statuses; the first is the default. */
  readonly statuses: readonly number[];
  /** Whether it is served without a credential (`protect: false`). */
  readonly isPublic: boolean;
  /** The deprecation headers of 2xx and 404. */
  readonly deprecation: readonly Header[];
  /** The headers of 2xx without a JSON body. */
  readonly successHeaders: readonly Header[];
  /** The headers of 2xx with a JSON body. It is always the same array, so that adapters can cache its encoded form. */
  readonly jsonHeaders: readonly Header[];
  /**
   * Headers that are computed from an output. If `responseHeaders` is a zod object, as in trpc-to-openapi, it only
   * documents headers, and the procedure sets them.
   */
  readonly computedHeaders: readonly (readonly [name: string, header: ResponseHeader])[];
}

export interface OperationsOptions {
  /** The base path of all operations. */
  readonly basePath: string;
  readonly links: LinkBase;
  /** Whether a path is already used by the document, a route or tRPC. */
  readonly isTaken: (path: string) => boolean;
  /** Whether the option `spool` is set, so that files can be stored outside of memory. */
  readonly canSpool: boolean;
}

/**
 * Creates the operations of all procedures with REST metadata.
 * @throws {GatewayError} with a line for each procedure that cannot be served: the reason and the fix
 */
export function createOperations(
  procedures: readonly Procedure[],
  { basePath, links, isTaken, canSpool }: OperationsOptions,
): readonly Operation[] {
  const problems: string[] = [];
  const warnings: string[] = [];
  const operations = new Map<string, Operation>();
  const ids = new Map<string, string>();
  for (const procedure of procedures) {
    const { path: name, rest } = procedure;
    if (rest === undefined) continue;
    const read = createReadSchema((sentence) => {
      warnings.push(`trpc-gateway: procedure "${name}": ${sentence}`);
    });
    const { method, operationId = name, path } = rest;
    const route = `${method} ${pathWithoutNames(rest)}`;
    const sameRoute = operations.get(route)?.procedure.path;
    const sameId = ids.get(operationId);
    try {
      const operation = createOperation(procedure, rest, { basePath, links, read });
      const upload = operation.input.body?.upload;
      if (upload?.kind === 'spool' && !canSpool) {
        reject(
          'its upload.spool requires the option spool of createGateway, such as temporaryFiles() of trpc-gateway/node',
        );
      }
      if (upload && procedure.idempotent) {
        reject(
          'it is idempotent, but its body is a stream, which cannot be compared with the body of a retry; remove one of them',
        );
      }
      operations.set(route, operation);
      ids.set(operationId, name);
      if (sameId !== undefined) {
        reject(`"${sameId}" has the operationId "${operationId}" too; give one of them another operationId`);
      }
      if (sameRoute !== undefined) {
        reject(`"${sameRoute}" is served at ${method} ${path} too; give one of them another path or method`);
      }
      if (isTaken(`${basePath}${path}`)) {
        reject(
          `${basePath}${path} is the path of the document or of a route, or lies below the tRPC base path; give it another path`,
        );
      }
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      problems.push(`Procedure "${name}" cannot be served over REST: ${error.message}.`);
    }
  }
  if (problems.length > 0) throw new GatewayError(problems.join('\n'));
  // oxlint-disable-next-line no-console -- the service runs, but its document says less than it could
  for (const warning of warnings) console.error(warning);
  return withAcceptQuery([...operations.values()]);
}

/** Adds `Accept-Query` (RFC 10008 §3) to GET responses if the same path has a QUERY operation. */
function withAcceptQuery(operations: readonly Operation[]): readonly Operation[] {
  const accepted = new Map(
    operations.flatMap(({ input: { body }, rest }) =>
      rest.method === 'QUERY' && body ? [[pathWithoutNames(rest), body.accepts] as const] : [],
    ),
  );
  return operations.map((operation) => {
    const accepts =
      operation.rest.method === 'GET' ? accepted.get(pathWithoutNames(operation.rest)) : undefined;
    return accepts ? { ...operation, ...sharedHeaders([...operation.deprecation, ...accepts]) } : operation;
  });
}

const sharedHeaders = (headers: readonly Header[]): Pick<Operation, 'successHeaders' | 'jsonHeaders'> => ({
  successHeaders: headers,
  jsonHeaders: [...headers, ['content-type', 'application/json']],
});

/** Returns the path without the names of its parameters, for comparison. */
const pathWithoutNames = ({ path }: RestMeta) => path.replaceAll(/\{.*?\}/g, '{}');

/** @throws {GatewayError} if the metadata or the schemas cannot be served; the message has the reason and the fix */
function createOperation(
  procedure: Procedure,
  rest: RestMeta,
  { basePath, links, read }: Pick<OperationsOptions, 'basePath' | 'links'> & { readonly read: ReadSchema },
): Operation {
  const inputs = procedure.inputs.map((input) => read(input, 'input', 'input'));
  // Caches, crawlers and HEAD requests must not trigger a mutation.
  if (procedure.type === 'mutation' && (rest.method === 'GET' || rest.method === 'QUERY')) {
    reject(`it is a mutation, but ${rest.method} must not change anything; use POST, PUT, PATCH or DELETE`);
  }
  if (basePath !== '' && rest.path.startsWith(`${basePath}/`)) {
    reject(`its path ${rest.path} begins with the base path, which is added to it; leave ${basePath} out`);
  }
  const template =
    parsePathTemplate(rest.path) ??
    reject(`its path is ${rest.path}; write it as /name/{parameter}, without a slash at the end`);
  const output = operationOutput(procedure, rest, read);
  const input = operationInput(inputs, rest, template, procedure.inputs);
  if (rest.method === 'QUERY' && input.body === undefined) {
    reject('its method is QUERY, but no property of its input is in the body; use GET');
  }
  if (rest.upload && !input.body?.upload) {
    reject(
      'its metadata has upload, but its input has no stream and no files in multipart/form-data; remove upload',
    );
  }
  const cursor = rest.pagination?.cursor;
  if (cursor !== undefined && (input.body || !input.query.has(cursor))) {
    reject(
      `its pagination names the cursor "${cursor}", but its query has no such parameter; add it to the input, or name another parameter`,
    );
  }
  const deprecation = deprecationHeaders(rest.deprecated, links);
  return {
    procedure,
    inputs,
    rest,
    template,
    input,
    output,
    errors: operationErrors(procedure),
    statuses: successStatuses(rest, output),
    isPublic: rest.protect === false,
    deprecation,
    ...sharedHeaders(deprecation),
    computedHeaders: isZod(rest.responseHeaders) ? [] : Object.entries(rest.responseHeaders ?? {}),
  };
}

/** @throws {GatewayError} for data that JSON cannot represent unchanged */
function operationErrors({ errors = {} }: Procedure): Operation['errors'] {
  const declared = Object.entries(errors).map(([code, { status, message, data }]) => {
    const schema = data && readZod(data, 'output');
    if (schema) requireJson(schema, `error ${code}`);
    // tRPC types the data as a Date on the client, but without a transformer the client receives a string.
    if (schema && hasDate(schema))
      reject(`the data of its error ${code} contains a date; use z.iso.datetime()`);
    return { code, status, message, data };
  });
  return Map.groupBy(declared, ({ status }) => status);
}
