import type { Header } from '../http/response.ts';
import { GatewayError } from '../procedures/gatewayError.ts';
import { isZod } from '../procedures/isZod.ts';
import type { ResponseHeader, RestMeta } from '../procedures/meta.ts';
import type { Procedure } from '../procedures/procedures.ts';
import { parameterConverter, type Parameter } from './convert.ts';
import { deprecationHeaders, type LinkBase } from './deprecation.ts';
import { operationErrors, type OperationErrors } from './operationErrors.ts';
import { operationBody, type OperationBody } from './operationBody.ts';
import { operationOutput, successStatuses, type OperationOutput } from './operationOutput.ts';
import { parsePathTemplate, type PathTemplate } from './pathTemplate.ts';
import { reject, Unservable } from './unservable.ts';
import { inputShape, isOptional, type Shape } from './zodSchema.ts';

/** How a procedure is served over REST and documented: derived once from its metadata and schemas. */
export interface Operation {
  readonly procedure: Procedure;
  readonly rest: RestMeta;
  readonly template: PathTemplate;
  /**
   * Whether the input as a whole may be absent (`z.object(…).optional()`, `z.void()`): the procedure gets `undefined`
   * from a request that sends none of it, as over tRPC.
   */
  readonly isInputOptional: boolean;
  /** In the template's order. */
  readonly pathParameters: readonly Parameter[];
  /** The other properties of the input. */
  readonly shape: Shape;
  /** Those that are sent as text or file: in the query, or as fields of a form. */
  readonly texts: ReadonlyMap<string, Parameter>;
  readonly body: OperationBody | undefined;
  readonly output: OperationOutput;
  readonly errors: OperationErrors;
  /** The statuses of success; the first is the default. */
  readonly statuses: readonly number[];
  /** Whether it is served without a credential (`protect: false`). */
  readonly isPublic: boolean;
  /** Headers of 2xx and 404. */
  readonly deprecation: readonly Header[];
  /** Headers of 2xx with a JSON body: one array, which adapters may cache in encoded form. */
  readonly jsonHeaders: readonly Header[];
  /**
   * Headers that are computed from an output. A zod object as `responseHeaders`, as in trpc-to-openapi, only describes
   * headers: the procedure sets them.
   */
  readonly computedHeaders: readonly (readonly [name: string, header: ResponseHeader])[];
}

export interface OperationsOptions {
  /** The path that all operations are below. */
  readonly basePath: string;
  readonly links: LinkBase;
  /** Whether something else is served at a path. */
  readonly isTaken: (path: string) => boolean;
}

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

/**
 * Derives the operations of the procedures that carry REST metadata.
 * @throws {GatewayError} a line for each procedure that cannot be served: why, and the fix
 */
export function createOperations(
  procedures: readonly Procedure[],
  { basePath, links, isTaken }: OperationsOptions,
): readonly Operation[] {
  const problems: string[] = [];
  const operations = new Map<string, Operation>();
  for (const procedure of procedures) {
    const { path: name, rest } = procedure;
    if (rest === undefined) continue;
    try {
      const operation = createOperation(procedure, rest, links);
      const address = `${rest.method} ${rest.path.replaceAll(/\{.*?\}/g, '{}')}`;
      const other = operations.get(address);
      operations.set(address, operation);
      if (other) {
        problems.push(
          `The procedures ${other.procedure.path} and ${name} are both served at ${rest.method} ${rest.path}: ` +
            'give one of them another path or method.',
        );
      } else if (isTaken(`${basePath}${rest.path}`)) {
        problems.push(
          `The procedure ${name} cannot be reached: ${basePath}${rest.path} is the document, a route or below the tRPC base path. ` +
            'Give the procedure another path.',
        );
      }
    } catch (error) {
      if (!(error instanceof Unservable)) throw error;
      problems.push(`The procedure ${name} cannot be served over REST: ${error.message}.`);
    }
  }
  if (problems.length > 0) throw new GatewayError(problems.join('\n'));
  return [...operations.values()];
}

/** @throws {Unservable} why the metadata or the schemas cannot be served, and the fix */
function createOperation(procedure: Procedure, rest: RestMeta, links: LinkBase): Operation {
  const { inputs } = procedure;
  if (!methods.includes(rest.method)) {
    reject(`its method is ${rest.method}; it must be one of ${methods.join(', ')}`);
  }
  // A cache, a crawler or a HEAD would write.
  if (procedure.type === 'mutation' && rest.method === 'GET') {
    reject('it is a mutation, and GET must change nothing; use POST, PUT, PATCH or DELETE');
  }
  const template =
    parsePathTemplate(rest.path) ??
    reject(`its path is ${rest.path}; write it as /name/{parameter}, without a slash at the end`);
  if (inputs.some((input) => isZod(input) && input._zod.def.type === 'never')) {
    reject(
      'its input is z.never(), which rejects every request; for a procedure without input leave .input() out, or use z.void()',
    );
  }
  const shape =
    inputShape(inputs) ??
    reject('its input is not a zod object, so its parameters have no names; use z.object(…)');
  const output = operationOutput(procedure, rest);
  const pathNames = template.flatMap((segment) => (typeof segment === 'string' ? [] : [segment.parameter]));
  const pathParameters = pathNames.map((name) => createParameter(name, shape));
  if (new Set(pathNames).size < pathNames.length) {
    reject('its path names one parameter twice; rename one of them');
  }
  for (const { name, schema, converter } of pathParameters) {
    if (isOptional(schema, 'input')) {
      reject(`"${name}" is optional, and a path always has it; make it required`);
    }
    if (converter.repeated) {
      reject(`"${name}" is an array, which a path cannot carry; move it into the query`);
    }
  }

  // A path parameter is a part of the input, and always sent.
  const isInputOptional =
    pathNames.length === 0 && inputs.every((input) => isZod(input) && isOptional(input, 'input'));
  const others: Shape = Object.fromEntries(
    Object.entries(shape).filter(([name]) => !pathNames.includes(name)),
  );
  const hasBody = rest.method !== 'GET' && rest.method !== 'DELETE';
  const body = operationBody(hasBody ? others : {}, isInputOptional, rest);
  const cursor = rest.pagination?.cursor;
  if (cursor !== undefined && (body || !(cursor in others))) {
    reject(
      `its pagination names the cursor "${cursor}", but its query has no such parameter; add it to the input, or name another`,
    );
  }

  const texts = (body?.isForm === false ? [] : Object.keys(others)).map(
    (name) => [name, createParameter(name, others, body?.isMultipart)] as const,
  );
  const deprecation = deprecationHeaders(rest.deprecation, links);
  return {
    procedure,
    rest,
    template,
    isInputOptional,
    pathParameters,
    shape: others,
    // Problems with texts are named before those with files.
    texts: new Map([...texts.filter(([, { converter }]) => !converter.isFile), ...texts]),
    body,
    output,
    errors: operationErrors(procedure),
    statuses: successStatuses(rest, output),
    isPublic: rest.protect === false,
    deprecation,
    jsonHeaders: [...deprecation, ['content-type', 'application/json']],
    computedHeaders: isZod(rest.responseHeaders) ? [] : Object.entries(rest.responseHeaders ?? {}),
  };
}

function createParameter(name: string, shape: Shape, isMultipart = false): Parameter {
  const schema =
    shape[name] ??
    reject(
      `its path has the parameter {${name}}, but its input has no property "${name}"; add it to the input, or rename the parameter`,
    );
  try {
    return { name, schema, converter: parameterConverter(schema, isMultipart) };
  } catch (error) {
    throw error instanceof Unservable ? new Unservable(`"${name}" ${error.message}`) : error;
  }
}
