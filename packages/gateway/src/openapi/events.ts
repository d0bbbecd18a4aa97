import type { oas31 } from 'zod-openapi';
import type { Operation } from '../operations/operation.ts';

export const eventStream = 'text/event-stream';

/** Responses by status. */
type Contents = Record<string, { readonly content?: oas31.ContentObject | undefined }>;

export const declaresResync = ({ errors }: Operation): boolean =>
  errors.get(410)?.some(({ code }) => code === 'RESYNC') ?? false;

/** OpenAPI 3.2 (§4.14) describes events by `itemSchema`; that of their data is the convention for 3.1. */
export function withItemSchema(responses: Contents, hasResync: boolean): Record<string, object> {
  const errors = Object.entries(responses).flatMap(([status, { content = {} }]) =>
    Number(status) < 400 ? [] : Object.entries(content),
  );
  const entries = Object.entries(responses).map(([status, response]) => {
    const events = response.content?.[eventStream];
    if (events === undefined) return [status, response] as const;
    const content = { [eventStream]: { itemSchema: eventSchema(events, errors, hasResync) } };
    return [status, { ...response, content }] as const;
  });
  return Object.fromEntries(entries);
}

/** Creates the schema of an event: an item of the subscription, its `end`, or an `error` or `resync`. */
function eventSchema(
  { schema = {} }: oas31.MediaTypeObject,
  errors: readonly (readonly [string, oas31.MediaTypeObject])[],
  hasResync: boolean,
): object {
  const bodies = new Map(errors.map(([, media]) => [JSON.stringify(media.schema), media.schema ?? {}]));
  const error = bodies.size === 1 ? [...bodies.values()][0] : { anyOf: [...bodies.values()] };
  const json = (contentSchema: object | undefined, contentMediaType = 'application/json') => ({
    type: 'string',
    contentMediaType,
    contentSchema,
  });
  const id = { type: 'string' };
  const data = json(error, errors[0]?.[0]);
  return {
    anyOf: [
      event('message', ['data'], { data: json(schema), id }),
      event('end', ['event', 'data'], { data: { type: 'string', const: '' } }),
      event('error', ['event', 'data'], { data }),
      ...(hasResync ? [event('resync', ['event', 'data', 'id'], { data, id })] : []),
    ],
  };
}

/** Creates the schema of one kind of event. Events without a name are `message` events (WHATWG HTML §9.2.6). */
const event = (name: string, required: readonly string[], fields: object) => ({
  type: 'object',
  required,
  properties: { event: { type: 'string', const: name }, ...fields },
});
