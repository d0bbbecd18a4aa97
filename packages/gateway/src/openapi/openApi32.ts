import type { OpenApiDocument } from './openApiDocument.ts';

/** The fields of an operation that are converted. Other fields are kept. */
interface OperationObject {
  readonly responses: Readonly<Record<string, ResponseObject>>;
}

interface ResponseObject {
  readonly content?: Readonly<Record<string, MediaTypeObject>>;
}

interface MediaTypeObject {
  readonly schema?: object;
}

type PathItemObject = Readonly<Record<string, unknown>>;

const eventStream = 'text/event-stream';

/**
 * Converts an OpenAPI 3.1 document to OpenAPI 3.2: events get an `itemSchema` (§4.14), and `x-query` becomes the method
 * `query`. The generator (zod-openapi 5.4) writes only 3.1.
 */
export function toOpenApi32(document: OpenApiDocument): OpenApiDocument {
  const paths = document['paths'] as Readonly<Record<string, PathItemObject>>;
  const converted = Object.entries(paths).map(([path, item]) => [path, convertPathItem(item)] as const);
  return { ...document, openapi: '3.2.0', paths: Object.fromEntries(converted) };
}

function convertPathItem(item: PathItemObject): PathItemObject {
  const members = Object.entries(item).map(([name, member]) => {
    const isOperation = typeof member === 'object' && member !== null && 'responses' in member;
    return [
      name === 'x-query' ? 'query' : name,
      isOperation ? convertOperation(member as unknown as OperationObject) : member,
    ] as const;
  });
  return Object.fromEntries(members);
}

function convertOperation(operation: OperationObject): OperationObject {
  const { responses } = operation;
  if (!Object.values(responses).some(({ content = {} }) => eventStream in content)) return operation;
  const errors = Object.entries(responses).flatMap(([status, { content = {} }]) =>
    Number(status) < 400 ? [] : Object.entries(content),
  );
  const converted = Object.entries(responses).map(([status, response]) => {
    const { [eventStream]: events } = response.content ?? {};
    if (events === undefined) return [status, response] as const;
    const content = { ...response.content, [eventStream]: { itemSchema: eventSchema(events, errors) } };
    return [status, { ...response, content }] as const;
  });
  return { ...operation, responses: Object.fromEntries(converted) };
}

/** Creates the schema of an event: an item of the subscription, its `end`, or an `error`. */
function eventSchema(
  { schema = {} }: MediaTypeObject,
  errors: readonly (readonly [string, MediaTypeObject])[],
): object {
  const bodies = new Map(errors.map(([, media]) => [JSON.stringify(media.schema), media.schema ?? {}]));
  const error = bodies.size === 1 ? [...bodies.values()][0] : { anyOf: [...bodies.values()] };
  const json = (contentSchema: object | undefined, contentMediaType = 'application/json') => ({
    type: 'string',
    contentMediaType,
    contentSchema,
  });
  return {
    anyOf: [
      event('message', ['data'], { data: json(schema), id: { type: 'string' } }),
      event('end', ['event', 'data'], { data: { type: 'string', const: '' } }),
      event('error', ['event', 'data'], { data: json(error, errors[0]?.[0]) }),
    ],
  };
}

/** Creates the schema of one kind of event. Events without a name are `message` events (WHATWG HTML §9.2.6). */
const event = (name: string, required: readonly string[], fields: object) => ({
  type: 'object',
  required,
  properties: { event: { type: 'string', const: name }, ...fields },
});
