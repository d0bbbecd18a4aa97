import type { Header } from '../http/response.ts';
import { GatewayError } from '../procedures/gatewayError.ts';
import { isZod } from '../procedures/isZod.ts';
import type { ResponseHeader, RestMeta } from '../procedures/meta.ts';
import type { Procedure } from '../procedures/procedures.ts';
import { NotConvertible, parameterConverter, type Parameter } from './convert.ts';
import { deprecationHeaders, type LinkBase } from './deprecationHeaders.ts';
import { operationBody, type OperationBody } from './operationBody.ts';
import { operationOutput, successStatuses, type OperationOutput } from './operationOutput.ts';
import { parsePathTemplate, type PathTemplate } from './pathTemplate.ts';
import { inputShape, isOptional, type Shape } from './zodSchema.ts';

/** How a procedure is served over REST and documented: derived once from its metadata and schemas. */
export interface Operation {
  readonly procedure: Procedure;
  readonly operationId: string;
  readonly rest: RestMeta;
  readonly template: PathTemplate;
  /**
   * Whether the input as a whole may be absent (`z.object(…).optional()`, `z.void()`): the procedure gets `undefined`
   * from a request that sends none of it, as over tRPC.
   */
  readonly isInputOptional: boolean;
  /** In the template's order. */
  readonly pathParameters: readonly Parameter[];
  readonly queryParameters: ReadonlyMap<string, Parameter>;
  readonly body: OperationBody | undefined;
  readonly output: OperationOutput;
  /** The statuses of success; the first is the default. */
  readonly statuses: readonly number[];
  /** Whether it is served without a credential (`protect: false`). */
  readonly isPublic: boolean;
  /** Headers of 2xx and 404. */
  readonly deprecation: readonly Header[];
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
    if (procedure.rest === undefined) continue;
    const { method, path } = procedure.rest;
    try {
      const operation = createOperation(procedure, procedure.rest, links);
      const address = `${method} ${operation.template.map((part) => (typeof part === 'string' ? `/${part}` : '/{}')).join('')}`;
      const other = operations.get(address);
      if (other) {
        throw new GatewayError(
          `The procedures ${other.procedure.path} and ${procedure.path} are both served at ${method} ${path}: ` +
            'give one of them another path or method.',
        );
      }
      if (isTaken(`${basePath}${path}`)) {
        throw new GatewayError(
          `The procedure ${procedure.path} cannot be reached: ${basePath}${path} is the document, a route or below the tRPC base path. ` +
            'Give the procedure another path.',
        );
      }
      operations.set(address, operation);
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      problems.push(error.message);
    }
  }
  if (problems.length > 0) throw new GatewayError(problems.join('\n'));
  return [...operations.values()];
}

/** @throws {GatewayError} one sentence with the fix, where the metadata or the schemas cannot be served */
function createOperation(procedure: Procedure, rest: RestMeta, links: LinkBase): Operation {
  const { inputs } = procedure;
  const reject = (why: string): never => {
    throw new GatewayError(`The procedure ${procedure.path} cannot be served over REST: ${why}.`);
  };

  if (!methods.includes(rest.method)) {
    return reject(`its method is ${rest.method}; it must be one of ${methods.join(', ')}`);
  }
  // A cache, a crawler or a HEAD would write.
  if (procedure.type === 'mutation' && rest.method === 'GET') {
    return reject('it is a mutation, and GET must change nothing; use POST, PUT, PATCH or DELETE');
  }
  const template = /\/:/.test(rest.path) ? undefined : parsePathTemplate(rest.path);
  if (template === undefined) {
    return reject(`its path is ${rest.path}; write it as /name/{parameter}, without a slash at the end`);
  }
  if (inputs.some((input) => isZod(input) && input._zod.def.type === 'never')) {
    return reject(
      'its input is z.never(), which rejects every request; for a procedure without input leave .input() out, or use z.void()',
    );
  }
  const shape = inputShape(inputs);
  if (shape === undefined) {
    return reject('its input is not a zod object, so its parameters have no names; use z.object(…)');
  }
  const output = operationOutput(procedure, rest);
  if (typeof output === 'string') return reject(output);

  const parameter = (name: string): Parameter => {
    const schema = shape[name];
    if (schema === undefined) {
      return reject(
        `its path has the parameter {${name}}, but its input has no property "${name}"; add it to the input, or rename the parameter`,
      );
    }
    try {
      return { name, schema, converter: parameterConverter(schema) };
    } catch (error) {
      if (error instanceof NotConvertible) return reject(`"${name}" ${error.message}`);
      throw error;
    }
  };

  const pathNames = template.flatMap((segment) => (typeof segment === 'string' ? [] : [segment.parameter]));
  const pathParameters = pathNames.map(parameter);
  if (new Set(pathNames).size < pathNames.length)
    return reject('its path names one parameter twice; rename one of them');
  const optional = pathParameters.find(({ schema }) => isOptional(schema, 'input'));
  if (optional) return reject(`"${optional.name}" is optional, and a path always has it; make it required`);
  const repeated = pathParameters.find(({ converter }) => converter.repeated);
  if (repeated) {
    return reject(`"${repeated.name}" is an array, which a path cannot carry; move it into the query`);
  }

  // A path parameter is a part of the input, and always sent.
  const isInputOptional =
    pathNames.length === 0 && inputs.every((input) => isZod(input) && isOptional(input, 'input'));
  const others: Shape = Object.fromEntries(
    Object.entries(shape).filter(([name]) => !pathNames.includes(name)),
  );
  const hasBody = rest.method !== 'GET' && rest.method !== 'DELETE';
  const body = operationBody(hasBody ? others : {}, isInputOptional, rest, parameter);
  if (typeof body === 'string') return reject(body);
  const queryParameters = new Map(
    hasBody ? [] : Object.keys(others).map((name) => [name, parameter(name)] as const),
  );
  const cursor = rest.pagination?.cursor;
  if (cursor !== undefined && !queryParameters.has(cursor)) {
    return reject(
      `its pagination names the cursor "${cursor}", but its query has no such parameter; add it to the input, or name another`,
    );
  }

  return {
    procedure,
    operationId: rest.operationId ?? procedure.path,
    rest,
    template,
    isInputOptional,
    pathParameters,
    queryParameters,
    body,
    output,
    statuses: successStatuses(rest, output),
    isPublic: rest.protect === false,
    deprecation: deprecationHeaders(rest.deprecation, links),
    computedHeaders: isZod(rest.responseHeaders) ? [] : Object.entries(rest.responseHeaders ?? {}),
  };
}
