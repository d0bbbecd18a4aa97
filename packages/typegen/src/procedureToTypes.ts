import type { AnyTRPCRouter } from '@trpc/server';
import { octetInputParser } from '@trpc/server/http';
import { literalType } from './literalType.ts';
import { type ZodSchema, definitionOf, isZod } from 'trpc-gateway/schemas';
import { createNames } from './names.ts';
import type { ProcedureInfo } from './procedures.ts';
import type { SchemaLocation } from './schemaLocation.ts';
import { schemaToType, type TypeOptions } from './schemaToType.ts';
import { contains, generic, typeToken, unknownType, type Member, type TypeNode } from './typeNode.ts';
import { TypegenError } from './typegenError.ts';

export interface ProcedureTypes {
  readonly kind: 'Query' | 'Mutation' | 'Subscription';
  readonly input: TypeNode;
  readonly output: TypeNode;
  /** The shapes of the declared errors. */
  readonly errors: readonly TypeNode[];
}

/** Which types of a procedure become `unknown` if they are not known at run time. */
interface AllowedUnknowns {
  /** The input and the output. */
  readonly any: boolean;
  /** An output without a schema. */
  readonly missingOutput: boolean;
}

/** Converts a procedure's schemas. @throws {TypegenError} if one is missing or not known at run time */
export function procedureToTypes(
  procedure: ProcedureInfo,
  options: TypeOptions,
  allowed: AllowedUnknowns,
): ProcedureTypes {
  const isMissing = procedure.output === undefined && procedure.event === undefined;
  const convert = (toType: typeof inputToType, allowsUnknown = allowed.any) =>
    allowsUnknown && !isKnown(() => toType(procedure, forTrial(options)))
      ? unknownType
      : toType(procedure, options);
  return {
    kind: ({ query: 'Query', mutation: 'Mutation', subscription: 'Subscription' } as const)[procedure.type],
    input: convert(inputToType),
    output: convert(outputToType, allowed.any || (allowed.missingOutput && isMissing)),
    errors: errorsToTypes(procedure, options),
  };
}

/** Options for a conversion whose result is not used: a conversion that fails leaves unfinished names. */
const forTrial = (options: TypeOptions): TypeOptions => ({
  ...options,
  names: createNames(new Map()),
  verbatim: new Set(options.verbatim),
});

function isKnown(convert: () => TypeNode): boolean {
  try {
    convert();
    return true;
  } catch (error) {
    if (error instanceof TypegenError) return false;
    throw error;
  }
}

/** JSON Schema of other libraries would not suffice: it has no dates and no transforms. */
function requireZod(parser: unknown, what: string, path: string): ZodSchema {
  if (isZod(parser)) return parser;
  throw new TypegenError(
    `Procedure "${path}": the type of its ${what} is not known: its parser is not a schema of zod 4 or zod/v4. Write it in zod/v4, or print it as unknown: --unknown ${path}.`,
  );
}

function inputToType({ path, inputs }: ProcedureInfo, options: TypeOptions): TypeNode {
  const owner = `Procedure "${path}"`;
  const types = inputs.map((parser) => {
    if (parser === octetInputParser) return typeToken('OctetInput');
    const schema = requireZod(parser, 'input', path);
    return schemaToType(schema, { owner, path: 'input', side: 'input' }, options);
  });
  const [only = typeToken('void')] = types;
  return types.length > 1 ? mergeInputs(types) : only;
}

/** Merges the inputs of chained `.input()` calls, as in tRPC's types. */
function mergeInputs(types: readonly TypeNode[]): TypeNode {
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

function outputToType(procedure: ProcedureInfo, options: TypeOptions): TypeNode {
  const { path, type, output, event: parser } = procedure;
  const owner = `Procedure "${path}"`;
  const resultOf = (result: unknown, what: string, at: string) =>
    resultToType(requireZod(result, what, path), { owner, path: at, side: 'output' }, options);
  if (output !== undefined) return resultOf(output, 'output', 'output');
  if (type !== 'subscription') {
    throw new TypegenError(
      `${owner}: the type of its output is not known at run time. Add an output schema: .output(…), or read it from the types: --infer-outputs, for routers without a transformer.`,
    );
  }
  if (parser === undefined) {
    throw new TypegenError(
      `${owner}: the type of its events is not known at run time. Declare it in the metadata (openapi.event), or add .output(z.custom().meta({ typescript: 'AsyncIterable<…, void>' })).`,
    );
  }
  const event = resultOf(parser, 'events', 'event');
  const yielded: TypeNode = isTracked(procedure)
    ? {
        kind: 'object',
        members: [
          { name: 'id', type: typeToken('string'), optional: false },
          { name: 'data', type: event, optional: false },
        ],
      }
    : event;
  return generic('AsyncIterable', yielded, typeToken('void'));
}

function resultToType(schema: ZodSchema, location: SchemaLocation, options: TypeOptions): TypeNode {
  const type = schemaToType(schema, location, options);
  if (contains(type, isChangedBySerialize)) options.verbatim.add(schema);
  return type;
}

/** Returns true if the result of tRPC's `Serialize` depends on whether the surrounding object is JSON. */
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

/** Returns true if the events are `tracked()`. Only then a client sends the last event's id back. */
function isTracked({ inputs }: ProcedureInfo): boolean {
  return inputs.some((input) => isZod(input) && hasField(input, 'lastEventId'));
}

function hasField(schema: ZodSchema, name: string): boolean {
  const definition = definitionOf(schema);
  if (definition.type === 'object') return Object.hasOwn(definition.shape, name);
  return 'innerType' in definition && hasField(definition.innerType, name);
}

/** Returns the error types, like `DeclaredErrorShape` of the gateway. */
function errorsToTypes({ path, errors = {} }: ProcedureInfo, options: TypeOptions): readonly TypeNode[] {
  return Object.entries(errors).map(([code, { status, data }]) => {
    const sides = [literalType(code), literalType(status)];
    // `declareErrors` has checked it.
    if (!isZod(data)) return generic('DeclaredError', ...sides);
    const location: SchemaLocation = {
      owner: `Procedure "${path}"`,
      path: `the data of ${code}`,
      side: 'output',
    };
    // tRPC does not serialize the type of an error.
    return generic(
      'DeclaredErrorWithData',
      ...sides,
      schemaToType(data, location, { ...options, isJson: false }),
    );
  });
}

/** The nested procedures and routers of a router. Leaves are the paths of procedures. */
export interface RouterTree {
  readonly [name: string]: string | RouterTree;
}

/** Returns the tree of a router. Its lazy routers must be loaded. */
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
