import type { Animal, NewPet } from '@petstore/core';
import {
  connect as connectHttp,
  type Client as HttpClient,
  type SendOptions,
  type TestResponse,
} from 'trpc-gateway-test';
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest';

/** A running pet store and a valid API key for it. */
export interface Served {
  /** Scheme, host and port, without a trailing slash. */
  readonly origin: string;
  readonly apiKey: string;
}

/** Registers a cleanup for the end of a test, or of a `describe`. */
export type AtEnd = (end: () => Promise<void>) => void;

/** A client of the pet store, with a valid key by default. */
export interface Client extends HttpClient {
  /** Sends `POST /v1/pets`. */
  post(body: unknown, sending?: SendOptions): Promise<TestResponse>;
  /** Creates an animal by `POST /v1/pets` and asserts 201; the default is the name Rex and the category 1. */
  create(pet: { readonly [Field in keyof NewPet]?: unknown }): Promise<Animal>;
  /** Returns the animals of `GET /v1/pets` with this query, such as `?limit=1`, and asserts 200. */
  list(query?: string): Promise<Animal[]>;
}

/** Returns the animal of a body; the client has checked its shape against the document. */
export const animalOf = (response: TestResponse) => response.json() as Animal;

/** Returns the list of animals of a body; the client has checked its shape against the document. */
export const animalsOf = (response: TestResponse) => response.json() as Animal[];

/** Connects to a running pet store and reads its OpenAPI document. */
async function connect(served: Served): Promise<Client> {
  const http = await connectHttp(served);
  const post: Client['post'] = (body, sending) => http.send('POST', '/v1/pets', { ...sending, body });
  return {
    ...http,
    post,
    async create(pet) {
      const received = await post({ name: 'Rex', categoryId: 1, ...pet });
      expect(received).toHaveStatus(201);
      return animalOf(received);
    },
    async list(query = '') {
      const response = await http.get(`/v1/pets${query}`);
      expect(response).toHaveStatus(200);
      return animalsOf(response);
    },
  };
}

/** The server under test. */
export type Subject = ReturnType<typeof subjectOf>;

/**
 * Creates the subject of a conformance run, with one `client` that all cases of the surrounding `describe` share: its store
 * also holds the animals of other cases.
 * @param serve starts an empty pet store on a free port, which ends with its data
 */
export function subjectOf(serve: (atEnd: AtEnd) => Promise<Served>) {
  /** Registers a server for the cases of the surrounding `describe`, after `prepare` has filled it. */
  function own(prepare?: (client: Client) => Promise<void>) {
    let client: Client | undefined;
    beforeAll(async () => {
      client = await connect(await serve(afterAll));
      await prepare?.(client);
    });
    return {
      get client(): Client {
        if (!client) throw new Error('The server runs only while cases do.');
        return client;
      },
    };
  }

  return Object.assign(own(), {
    /** Starts a server for the running case alone; it is closed when the case ends. */
    start: async () => connect(await serve(onTestFinished)),
    own,
  });
}

/** Returns the URL of the next page that the `Link` header of a response names (RFC 8288). */
export function nextPage(response: TestResponse): URL | undefined {
  const [, target] = /<([^>]*)>; rel="?next"?/.exec(response.header('link') ?? '') ?? [];
  return target === undefined ? undefined : new URL(target, 'http://petstore.test/');
}
