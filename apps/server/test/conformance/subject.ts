import { afterAll, beforeAll, onTestFinished } from 'vitest';
import { type Client, connect, type ReceivedResponse, type Serve } from './client.ts';

/** The server under test. */
export interface Subject {
  /** A client of the server that all cases share: its store also holds the animals of other cases. */
  readonly client: Client;
  /** Starts a server for the running case alone; it is closed when the case ends. */
  start(): Promise<Client>;
  /** Registers a server for the cases of the surrounding `describe`, after `prepare` has filled it. */
  own(prepare?: (client: Client) => Promise<void>): { readonly client: Client };
}

/** Creates the subject of a conformance run, with one shared server for the surrounding `describe`. */
export function subject(serve: Serve): Subject {
  function own(prepare?: (client: Client) => Promise<void>) {
    let client: Client | undefined;
    let close: (() => Promise<void>) | undefined;
    beforeAll(async () => {
      const served = await serve();
      close = () => served.close();
      client = await connect(served);
      await prepare?.(client);
    });
    afterAll(() => close?.());
    return {
      get client(): Client {
        if (!client) throw new Error('The server runs only while cases do.');
        return client;
      },
    };
  }

  const shared = own();
  return {
    get client() {
      return shared.client;
    },
    async start() {
      const served = await serve();
      onTestFinished(() => served.close());
      return connect(served);
    },
    own,
  };
}

/** Returns the URL of the next page that the `Link` header of a response names (RFC 8288). */
export function nextPage(response: ReceivedResponse): URL | undefined {
  const [, target] = /<([^>]*)>; rel="?next"?/.exec(response.header('link') ?? '') ?? [];
  return target === undefined ? undefined : new URL(target, 'http://petstore.test/');
}
