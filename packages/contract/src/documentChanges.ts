/* oxlint-disable oxc/no-map-spread -- documents are small, and this runs once per build */
import { isDeepStrictEqual } from 'node:util';
import type { Change } from './change.ts';
import {
  type OpenApiContent,
  type ComparedDocument,
  operationMethods,
  type OpenApiOperation,
  type OpenApiParameter,
  type OpenApiPathItem,
  type Referable,
  resolve,
  type OpenApiResponse,
} from './document.ts';
import { schemaChanges, type SchemaComparison } from './schemaChanges.ts';

/**
 * Returns the changes from one OpenAPI 3.1 document to another, breaking changes first. Ignores titles, descriptions,
 * examples, tags and extensions. Changes that cannot be classified count as breaking.
 */
export function documentChanges(before: ComparedDocument, after: ComparedDocument): readonly Change[] {
  const seen = new Set<string>();
  const sides: Sides = {
    before,
    after,
    request: { before, after, direction: 'request', seen },
    response: { before, after, direction: 'response', seen },
  };
  const changes = [
    ...serverChanges(before, after),
    ...pathChanges(sides),
    ...schemeChanges(before, after),
    ...schemaNameChanges(before, after),
  ];
  return changes.toSorted((a, b) => Number(b.isBreaking) - Number(a.isBreaking));
}

interface Sides {
  readonly before: ComparedDocument;
  readonly after: ComparedDocument;
  readonly request: SchemaComparison;
  readonly response: SchemaComparison;
}

const change = (isBreaking: boolean, sentence: string): Change => ({ isBreaking, sentence });

/** Compares two records by key. Returns the entries of both, the removed and the added ones. */
function matched<T>(before: Readonly<Record<string, T>> = {}, after: Readonly<Record<string, T>> = {}) {
  const both: [name: string, was: T, is: T][] = [];
  for (const [name, was] of Object.entries(before)) {
    const is = after[name];
    if (is !== undefined) both.push([name, was, is]);
  }
  return {
    both,
    gone: Object.entries(before).filter(([name]) => after[name] === undefined),
    added: Object.entries(after).filter(([name]) => before[name] === undefined),
  };
}

function serverChanges(before: ComparedDocument, after: ComparedDocument): Change[] {
  const urls = ({ servers = [{ url: '/' }] }: ComparedDocument) =>
    Object.fromEntries(servers.map(({ url }) => [url, url]));
  const { gone, added } = matched(urls(before), urls(after));
  return [
    ...gone.map(([url]) => change(true, `The server ${url} is gone`)),
    ...added.map(([url]) => change(false, `The server ${url} is new`)),
  ];
}

function pathChanges(sides: Sides): Change[] {
  const { both, gone, added } = matched<OpenApiPathItem>(sides.before.paths, sides.after.paths);
  return [
    ...gone.map(([path]) => change(true, `The path ${path} is gone`)),
    ...added.map(([path]) => change(false, `The path ${path} is new`)),
    ...both.flatMap(([path, was, is]) =>
      operationMethods.flatMap((method) => {
        const [before, after] = [was[method], is[method]];
        const where = `${method.toUpperCase()} ${path}`;
        if (before && after)
          return operationChanges(sides, where, withShared(was, before), withShared(is, after));
        if (before) return [change(true, `${where}: the operation is gone`)];
        return after ? [change(false, `${where}: the operation is new`)] : [];
      }),
    ),
  ];
}

/** Returns an operation with the parameters of its path, unless it overrides them. */
const withShared = (
  { parameters: shared = [] }: OpenApiPathItem,
  operation: OpenApiOperation,
): OpenApiOperation => ({
  ...operation,
  parameters: [...shared, ...(operation.parameters ?? [])],
});

function operationChanges(
  sides: Sides,
  where: string,
  was: OpenApiOperation,
  is: OpenApiOperation,
): Change[] {
  const changes: Change[] = [];
  if (was.operationId !== is.operationId) {
    // Generated clients and tRPC use this name.
    changes.push(change(true, `${where}: operationId is ${is.operationId}, was ${was.operationId}`));
  }
  if (was.deprecated !== true && is.deprecated === true)
    changes.push(change(false, `${where}: it is deprecated`));
  if (was.deprecated === true && is.deprecated !== true)
    changes.push(change(false, `${where}: it is no longer deprecated`));
  return [
    ...changes,
    ...securityChanges(sides, where, was, is),
    ...parameterChanges(sides, where, was, is),
    ...bodyChanges(sides, where, was, is),
    ...responseChanges(sides, where, was, is),
  ];
}

/** Compares security alternatives, of which one suffices. Removing one is breaking, unless an empty one allows all clients. */
function securityChanges(
  { before, after }: Sides,
  where: string,
  was: OpenApiOperation,
  is: OpenApiOperation,
): Change[] {
  const alternatives = (
    document: ComparedDocument,
    { security = document.security ?? [] }: OpenApiOperation,
  ) =>
    Object.fromEntries(
      (security.length === 0 ? [{}] : security).map((each) => {
        const name = Object.entries(each)
          .map(([scheme, scopes]) => [scheme, ...scopes.toSorted()].join(' '))
          .toSorted()
          .join(' and ');
        return [name === '' ? 'calls without a credential' : `calls with ${name}`, each];
      }),
    );
  const { gone, added } = matched(alternatives(before, was), alternatives(after, is));
  const isOpen = Object.hasOwn(alternatives(after, is), 'calls without a credential');
  return [
    ...gone.map(([calls]) => change(!isOpen, `${where}: ${calls} are no longer accepted`)),
    ...added.map(([calls]) => change(false, `${where}: ${calls} are accepted`)),
  ];
}

function parameterChanges(
  sides: Sides,
  where: string,
  was: OpenApiOperation,
  is: OpenApiOperation,
): Change[] {
  const byName = (document: ComparedDocument, { parameters = [] }: OpenApiOperation) =>
    Object.fromEntries(
      parameters.map((each) => {
        const parameter = resolve<OpenApiParameter>(document, each);
        // Header names are case-insensitive (RFC 9110 §5.1).
        const name = parameter.in === 'header' ? parameter.name.toLowerCase() : parameter.name;
        return [`${parameter.in} parameter \`${name}\``, parameter];
      }),
    );
  const { both, gone, added } = matched(byName(sides.before, was), byName(sides.after, is));
  return [
    ...gone.map(([name]) => change(true, `${where}: the ${name} is gone`)),
    ...added.map(([name, { required = false }]) =>
      change(required, `${where}: the ${name} is new and ${required ? 'required' : 'optional'}`),
    ),
    ...both.flatMap(([name, old, now]) => {
      const changes = requirementChanges(`${where}: the ${name}`, old.required, now.required, true);
      for (const key of ['style', 'explode'] as const) {
        if (old[key] !== now[key])
          changes.push(change(true, `${where}: the ${name}: ${key} is ${now[key]}, was ${old[key]}`));
      }
      return [...changes, ...schemaChanges(sides.request, `${where}: the ${name}`, old.schema, now.schema)];
    }),
  ];
}

/** @param breaksIf whether becoming required (true) or becoming optional (false) is breaking */
function requirementChanges(what: string, was = false, is = false, breaksIf: boolean): Change[] {
  if (was === is) return [];
  return [change(is === breaksIf, `${what} is ${is ? 'required' : 'optional'}`)];
}

function bodyChanges(sides: Sides, where: string, was: OpenApiOperation, is: OpenApiOperation): Change[] {
  const what = `${where}: the body`;
  const old = was.requestBody && resolve(sides.before, was.requestBody);
  const now = is.requestBody && resolve(sides.after, is.requestBody);
  if (old === undefined && now === undefined) return [];
  if (now === undefined) return [change(true, `${what} is gone`)];
  if (old === undefined)
    return [change(now.required === true, `${what} is new and ${now.required ? 'required' : 'optional'}`)];
  return [
    ...requirementChanges(what, old.required, now.required, true),
    ...contentChanges(sides.request, what, old.content, now.content),
  ];
}

function contentChanges(
  comparison: SchemaComparison,
  what: string,
  was?: OpenApiContent,
  is?: OpenApiContent,
): Change[] {
  const { both, gone, added } = matched(was, is);
  return [
    ...gone.map(([type]) => change(true, `${what} no longer supports ${type}`)),
    ...added.map(([type]) => change(false, `${what} now supports ${type}`)),
    ...both.flatMap(([type, old, now]) =>
      schemaChanges(comparison, both.length > 1 ? `${what} as ${type}` : what, old.schema, now.schema),
    ),
  ];
}

function responseChanges(sides: Sides, where: string, was: OpenApiOperation, is: OpenApiOperation): Change[] {
  const { both, gone, added } = matched<Referable<OpenApiResponse>>(was.responses, is.responses);
  return [
    ...gone.map(([status]) => change(true, `${where}: the status ${status} is gone`)),
    ...added.map(([status]) => {
      // Clients that handle errors handle another error status, but they do not know another success status.
      const isFailure = /^[45]/.test(status) || status === 'default';
      return change(!isFailure, `${where}: the status ${status} is new`);
    }),
    ...both.flatMap(([status, old, now]) => {
      const what = `${where}: the response ${status}`;
      const [from, to] = [
        resolve<OpenApiResponse>(sides.before, old),
        resolve<OpenApiResponse>(sides.after, now),
      ];
      return [
        ...headerChanges(sides, what, from, to),
        ...contentChanges(sides.response, what, from.content, to.content),
      ];
    }),
  ];
}

function headerChanges(sides: Sides, what: string, was: OpenApiResponse, is: OpenApiResponse): Change[] {
  const byName = ({ headers = {} }: OpenApiResponse) =>
    Object.fromEntries(Object.entries(headers).map(([name, header]) => [name.toLowerCase(), header]));
  const { both, gone, added } = matched(byName(was), byName(is));
  return [
    ...gone.map(([name]) => change(true, `${what}: the header ${name} is gone`)),
    ...added.map(([name]) => change(false, `${what}: the header ${name} is new`)),
    ...both.flatMap(([name, old, now]) => {
      const [from, to] = [resolve(sides.before, old), resolve(sides.after, now)];
      return [
        ...requirementChanges(`${what}: the header ${name}`, from.required, to.required, false),
        ...schemaChanges(sides.response, `${what}: the header ${name}`, from.schema, to.schema),
      ];
    }),
  ];
}

function schemeChanges(before: ComparedDocument, after: ComparedDocument): Change[] {
  const schemes = ({ components }: ComparedDocument) => components?.securitySchemes ?? {};
  const { both, gone, added } = matched(schemes(before), schemes(after));
  const meaning = (scheme: object) => ({ ...scheme, description: undefined });
  return [
    ...gone.map(([name]) => change(true, `The security scheme ${name} is gone`)),
    ...added.map(([name]) => change(false, `The security scheme ${name} is new`)),
    ...both
      .filter(([, was, is]) => !isDeepStrictEqual(meaning(was), meaning(is)))
      .map(([name]) => change(true, `The security scheme ${name} changed`)),
  ];
}

/** Compares the names of schemas, which are the names of generated types. */
function schemaNameChanges(before: ComparedDocument, after: ComparedDocument): Change[] {
  const { gone, added } = matched(before.components?.schemas, after.components?.schemas);
  return [
    ...gone.map(([name]) => change(true, `The schema ${name} is gone`)),
    ...added.map(([name]) => change(false, `The schema ${name} is new`)),
  ];
}
