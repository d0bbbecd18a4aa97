import type { AnyTRPCRouter } from '@trpc/server';
import { octetInputParser } from '@trpc/server/http';
import { literalType } from './literalType.ts';
import { isZod } from './isZod.ts';
import type { Procedure } from './procedures.ts';
import type { Place } from './place.ts';
import { schemaToType, type TypeOptions } from './schemaToType.ts';
import { contains, generic, word, type Member, type TypeNode } from './typeNode.ts';
import { TypegenError } from './typegenError.ts';
import { definitionOf, type Schema } from './zodDefinition.ts';

/** A procedure's type: its kind, what it takes and what it gives. */
export interface ProcedureTypes {
  readonly kind: 'Query' | 'Mutation' | 'Subscription';
  readonly input: TypeNode;
  readonly output: TypeNode;
  /** The shapes of the errors that it declares. */
  readonly errors: readonly TypeNode[];
}

/**
 * What a procedure's input and output schemas say of its type.
 * @throws {TypegenError} where a schema is missing, or has no type that can be known
 */
export function procedureToTypes(procedure: Procedure, options: TypeOptions): ProcedureTypes {
  return {
    kind: ({ query: 'Query', mutation: 'Mutation', subscription: 'Subscription' } as const)[procedure.type],
    input: inputToType(procedure, options),
    output: outputToType(procedure, options),
    errors: errorsToTypes(procedure, options),
  };
}

/** A JSON Schema, which other libraries give, would not do: it has no dates, and nothing of a transform. */
const notZod = 'its parser is not a zod 4 schema.';

function inputToType({ path, inputs }: Procedure, options: TypeOptions): TypeNode {
  const owner = `The procedure ${path}`;
  const types = inputs.map((parser) => {
    if (parser === octetInputParser) return word('OctetInput');
    if (isZod(parser)) return schemaToType(parser, { owner, path: 'input', side: 'input' }, options);
    throw new TypegenError(`${owner}: the type of its input is not known: ${notZod}`);
  });
  const [only = word('void')] = types;
  return types.length > 1 ? concatenated(types) : only;
}

/** The inputs of chained `.input()` calls as one, as tRPC types them. */
function concatenated(types: readonly TypeNode[]): TypeNode {
  const members = new Map<string, Member>();
  for (const type of types) {
    const body = type.kind === 'reference' ? type.to.body() : type;
    if (body?.kind !== 'object' || body.members.some(({ name }) => members.has(name))) {
      return generic('Simplify', { kind: 'intersection', members: types });
    }
    for (const member of body.members) members.set(member.name, member);
  }
  return { kind: 'object', members: [...members.values()] };
}

function outputToType(procedure: Procedure, options: TypeOptions): TypeNode {
  const { path, type, output, rest } = procedure;
  const owner = `The procedure ${path}`;
  if (isZod(output)) return resultToType(output, { owner, path: 'output', side: 'output' }, options);
  if (output !== undefined) {
    throw new TypegenError(`${owner}: the type of its output is not known: ${notZod}`);
  }
  if (type !== 'subscription') {
    throw new TypegenError(
      `${owner}: what it gives is not known at run time. Give it an output schema: .output(…).`,
    );
  }
  if (rest?.event === undefined) {
    throw new TypegenError(
      `${owner}: what its events are is not known at run time. Say it in its metadata: openapi.event, or .output(z.custom().meta({ typescript: 'AsyncIterable<…, void>' })).`,
    );
  }
  if (!isZod(rest.event)) {
    throw new TypegenError(`${owner}: the type of its events is not known: ${notZod}`);
  }
  const event = resultToType(rest.event, { owner, path: 'event', side: 'output' }, options);
  const yielded: TypeNode = resumes(procedure)
    ? {
        kind: 'object',
        members: [
          { name: 'id', type: word('string'), optional: false },
          { name: 'data', type: event, optional: false },
        ],
      }
    : event;
  return generic('AsyncIterable', yielded, word('void'));
}

function resultToType(schema: Schema, place: Place, options: TypeOptions): TypeNode {
  const type = schemaToType(schema, place, options);
  if (contains(type, isChangedBySerialize)) options.verbatim.add(schema);
  return type;
}

/** Whether tRPC's `Serialize` makes another type of it in an object that is not JSON than in one that is. */
function isChangedBySerialize(type: TypeNode): boolean {
  switch (type.kind) {
    case 'intersection':
    case 'index':
      return true;
    case 'array':
    case 'tuple':
      return type.readonly === true;
    default:
      return false;
  }
}

/** Whether its events are `tracked()`: then, and only then, does a client send the last one's id back. */
function resumes({ inputs }: Procedure): boolean {
  return inputs.some((input) => isZod(input) && hasField(input, 'lastEventId'));
}

function hasField(schema: Schema, name: string): boolean {
  const definition = definitionOf(schema);
  if (definition.type === 'object') return Object.hasOwn(definition.shape, name);
  return 'innerType' in definition && hasField(definition.innerType, name);
}

/** As `DeclaredErrorShape` of the gateway types them. */
function errorsToTypes({ path, errors = {} }: Procedure, options: TypeOptions): readonly TypeNode[] {
  return Object.entries(errors).map(([code, { status, data }]) => {
    const sides = [literalType(code), literalType(status)];
    if (data === undefined) return generic('DeclaredError', ...sides);
    const place: Place = { owner: `The procedure ${path}`, path: `the data of ${code}`, side: 'output' };
    // tRPC does not serialize the type of an error.
    return generic(
      'DeclaredErrorWithData',
      ...sides,
      schemaToType(data, place, { ...options, isJson: false }),
    );
  });
}

/** The procedures and sub-routers of a router, as they are nested. */
export interface RouterTree {
  readonly [name: string]: string | RouterTree;
}

/** The nesting of a router whose lazy routers are loaded; leaves are the procedures' paths. */
export function routerTree(router: AnyTRPCRouter): RouterTree {
  const branch = (record: object, path: string): RouterTree =>
    Object.fromEntries(
      Object.entries(record).map(([name, value]) => [
        name,
        typeof value === 'function' ? `${path}${name}` : branch(value as object, `${path}${name}.`),
      ]),
    );
  return branch(router._def.record as object, '');
}
