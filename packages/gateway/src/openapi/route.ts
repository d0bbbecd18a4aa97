import type { z } from 'zod';
import type { ProcedureCall } from '../procedures/procedureCall.ts';
import { GatewayError } from '../procedures/gatewayError.ts';
import type { RestMeta } from '../procedures/meta.ts';
import { isZod } from '../procedures/isZod.ts';
import type { ProcedureDefinition } from '../procedures/procedures.ts';
import { NotConvertible, parameterConverter, type ParameterConverter } from './convert.ts';
import { fileFields } from './fileFields.ts';
import { inputShape, isOptional, type Shape } from './inputShape.ts';
import { unjsonable } from './jsonable.ts';
import { hasDate } from './jsonDates.ts';
import { parsePathTemplate, type PathTemplate } from './pathTemplate.ts';

/** A property of the input that travels as text: in the path, in the query, or as a form's field. */
export interface Parameter {
  readonly name: string;
  readonly schema: z.core.$ZodType;
  readonly converter: ParameterConverter;
}

/** What a body carries: the properties that are not in the path. */
export interface BodyShape {
  readonly contentTypes: readonly string[];
  readonly shape: Shape;
  /** The properties that hold dates, which JSON carries as texts. */
  readonly dates: readonly string[];
  /** Whether one of the properties must be there. Where none must, the body may be left out. */
  readonly required: boolean;
  /** How the texts of a form are read; empty where no form is taken. */
  readonly fields: ReadonlyMap<string, Parameter>;
  /** The files of a `multipart/form-data` body, and whether each may be repeated. */
  readonly files: ReadonlyMap<string, { readonly repeated: boolean }>;
}

/** What a successful answer carries. */
export type RouteOutput =
  | { readonly kind: 'json'; readonly schema: z.core.$ZodType }
  | { readonly kind: 'bytes'; readonly contentType: string }
  /** A subscription. */
  | { readonly kind: 'events'; readonly schema: z.ZodType };

/** An operation as it is served and documented: everything that follows from the metadata, derived once. */
export interface Route {
  /** The procedure's path in the router. */
  readonly procedurePath: string;
  readonly operationId: string;
  readonly rest: RestMeta;
  readonly template: PathTemplate;
  readonly inputs: readonly unknown[];
  /**
   * Whether the input as a whole may be absent (`z.object(…).optional()`, `z.void()`): of a request that sends none of it
   * the procedure gets `undefined`, as over tRPC.
   */
  readonly isInputOptional: boolean;
  /** In the template's order. */
  readonly pathParameters: readonly Parameter[];
  readonly queryParameters: ReadonlyMap<string, Parameter>;
  readonly body: BodyShape | undefined;
  /** How an output becomes a body, and what the document says of it. */
  readonly output: RouteOutput;
  /** The statuses of success; the first is the default. */
  readonly statuses: readonly number[];
  /** Whether it is served without a credential (`protect: false`). */
  readonly isPublic: boolean;
  readonly call: ProcedureCall;
}

const form = 'application/x-www-form-urlencoded';
const multipart = 'multipart/form-data';
const json = 'application/json';
const readable = [json, form, multipart];
const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

/**
 * Derives the operations of the procedures that carry REST metadata.
 * @param basePath what their paths are below
 * @param isTaken whether something else is served at a path
 * @throws {GatewayError} a line for each procedure that cannot be served: why, and the remedy
 */
export function createRoutes(
  definitions: readonly ProcedureDefinition[],
  basePath: string,
  isTaken: (path: string) => boolean,
): readonly Route[] {
  const problems: string[] = [];
  const routes: Route[] = [];
  const byAddress = new Map<string, Route>();
  for (const definition of definitions) {
    if (definition.rest === undefined) continue;
    try {
      const route = createRoute(definition, definition.rest);
      const { method, path } = route.rest;
      const address = `${method} ${route.template.map((part) => (typeof part === 'string' ? `/${part}` : '/{}')).join('')}`;
      const other = byAddress.get(address);
      if (other) {
        throw new GatewayError(
          `The procedures ${other.procedurePath} and ${route.procedurePath} are both served at ${method} ${path}: ` +
            'give one of them another path or method.',
        );
      }
      if (isTaken(`${basePath}${path}`)) {
        throw new GatewayError(
          `The procedure ${route.procedurePath} cannot be reached: ${basePath}${path} is served by something else.`,
        );
      }
      byAddress.set(address, route);
      routes.push(route);
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      problems.push(error.message);
    }
  }
  if (problems.length > 0) throw new GatewayError(problems.join('\n'));
  return routes;
}

/**
 * Derives one operation.
 * @throws {GatewayError} one sentence with the remedy, where the metadata or the schemas cannot be served
 */
function createRoute(definition: ProcedureDefinition, rest: RestMeta): Route {
  const { path: procedurePath, inputs } = definition;
  const refuse = (why: string): never => {
    throw new GatewayError(`The procedure ${procedurePath} cannot be served over REST: ${why}.`);
  };

  if (!methods.includes(rest.method))
    return refuse(`its method is ${rest.method}; it must be one of ${methods.join(', ')}`);
  // A cache, a crawler or a HEAD would write.
  if (definition.type === 'mutation' && rest.method === 'GET') {
    return refuse('it is a mutation, and GET must change nothing; use POST, PUT, PATCH or DELETE');
  }
  const template = /\/:/.test(rest.path) ? undefined : parsePathTemplate(rest.path);
  if (template === undefined) {
    return refuse(`its path is ${rest.path}; write it as /name/{parameter}, without a slash at the end`);
  }
  if (inputs.some((input) => isZod(input) && input._zod.def.type === 'never')) {
    return refuse(
      'its input is z.never(), which rejects every request; for a procedure without input leave .input() out, or use z.void()',
    );
  }
  const shape = inputShape(inputs);
  if (shape === undefined) return refuse('its input is not a zod object, so nothing names its parameters');
  const answered = routeOutput(definition, rest);
  if (typeof answered === 'string') return refuse(answered);

  const parameter = (name: string): Parameter => {
    const schema = shape[name];
    if (schema === undefined) return refuse(`its path names {${name}}, which its input has not`);
    try {
      return { name, schema, converter: parameterConverter(schema) };
    } catch (error) {
      if (error instanceof NotConvertible) return refuse(`"${name}" ${error.message}`);
      throw error;
    }
  };

  const pathNames = template.flatMap((segment) => (typeof segment === 'string' ? [] : [segment.parameter]));
  const pathParameters = pathNames.map(parameter);
  if (new Set(pathNames).size < pathNames.length) return refuse('its path names one parameter twice');
  const optional = pathParameters.find(({ schema }) => isOptional(schema, 'input'));
  if (optional) return refuse(`"${optional.name}" is optional, and a path always has it; make it required`);
  const repeated = pathParameters.find(({ converter }) => converter.repeated);
  if (repeated)
    return refuse(`"${repeated.name}" is an array, which a path cannot carry; move it into the query`);

  // A path parameter is a part of the input, and always sent.
  const isInputOptional =
    pathNames.length === 0 && inputs.every((input) => isZod(input) && isOptional(input, 'input'));
  const others = Object.keys(shape).filter((name) => !pathNames.includes(name));
  const hasBody = rest.method !== 'GET' && rest.method !== 'DELETE';
  const byName = (names: readonly string[]) => new Map(names.map((name) => [name, parameter(name)]));

  if (rest.contentTypes?.length === 0) {
    return refuse(
      `its contentTypes is an empty list; name at least one of ${readable.join(', ')}, or leave it out (${json})`,
    );
  }
  const body = (): BodyShape | undefined => {
    if (!hasBody || others.length === 0) return undefined;
    const contentTypes = rest.contentTypes ?? [json];
    const unknown = contentTypes.find((type) => !readable.includes(type));
    if (unknown !== undefined)
      return refuse(`its content type ${unknown} is not one of ${readable.join(', ')}`);
    const bodyShape = Object.fromEntries(others.map((name) => [name, shape[name] as z.core.$ZodType]));
    if (contentTypes.includes(json)) {
      for (const [name, schema] of Object.entries(bodyShape)) {
        const problem = unjsonable(schema, 'input');
        if (problem !== undefined) return refuse(`in its body, "${name}": ${problem}`);
      }
    }
    // Where one of the types cannot carry files, the field is converted as a text, which says what stands against it.
    const files = contentTypes.every((type) => type === multipart) ? fileFields(bodyShape) : new Map();
    const texts = others.filter((name) => !files.has(name));
    const takesForm = contentTypes.includes(form) || contentTypes.includes(multipart);
    return {
      contentTypes,
      shape: bodyShape,
      dates: others.filter((name) => hasDate(bodyShape[name] as z.core.$ZodType)),
      required: !isInputOptional && Object.values(bodyShape).some((schema) => !isOptional(schema, 'input')),
      fields: takesForm ? byName(texts) : new Map<string, Parameter>(),
      files,
    };
  };

  const queryParameters = hasBody ? new Map<string, Parameter>() : byName(others);
  const cursor = rest.pagination?.cursor;
  if (cursor !== undefined && !queryParameters.has(cursor)) {
    return refuse(`its pagination names the cursor "${cursor}", which its query has not`);
  }

  return {
    procedurePath,
    operationId: rest.operationId ?? procedurePath,
    rest,
    template,
    inputs,
    isInputOptional,
    pathParameters,
    queryParameters,
    body: body(),
    output: answered,
    statuses: successStatuses(rest, answered),
    isPublic: rest.protect === false,
    call: definition.call,
  };
}

/** What a procedure answers, or why that cannot be served. */
function routeOutput({ type, output }: ProcedureDefinition, rest: RestMeta): RouteOutput | string {
  const { produces, event, method } = rest;
  if (type === 'subscription') {
    if (method !== 'GET') return `it is a subscription, so its method must be GET, not ${method}`;
    if (!isZod(event))
      return 'it is a subscription: say in its metadata what an event is, event: z.object(…)';
    const problem = unjsonable(event, 'output');
    return problem === undefined ? { kind: 'events', schema: event } : `in its event, ${problem}`;
  }
  if (event !== undefined) return `its metadata has an event, but it is a ${type}, not a subscription`;
  if (produces !== undefined) {
    // oxlint-disable-next-line no-control-regex -- these are the characters that a header must not have
    return /^[^\s/]+\/[^\x00-\x1f]+$/.test(produces)
      ? { kind: 'bytes', contentType: produces }
      : `it produces ${JSON.stringify(produces)}, which is not a media type`;
  }
  if (!isZod(output)) {
    return 'it has no zod output, so the document could not say what it answers; add .output(…), or produces for bytes';
  }
  if ([rest.successStatus].flat()[0] === 200 && isNothing(output)) {
    return 'its output is nothing and its successStatus 200; leave the status out (204)';
  }
  const problem = unjsonable(output, 'output');
  return problem === undefined ? { kind: 'json', schema: output } : `in its output, ${problem}`;
}

function successStatuses({ successStatus }: RestMeta, output: RouteOutput): readonly number[] {
  if (typeof successStatus === 'number') return [successStatus];
  if (successStatus !== undefined) return successStatus;
  if (output.kind !== 'json') return [200];
  if (isNothing(output.schema)) return [204];
  return isOptional(output.schema, 'output') ? [200, 204] : [200];
}

const isNothing = (schema: z.core.$ZodType) => ['void', 'undefined'].includes(schema._zod.def.type);
