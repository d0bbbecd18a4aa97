import { afterAll, beforeAll, onTestFinished } from 'vitest';
import { type Client, connect } from '../client.ts';
import type { ConformanceOptions, Serve, ServeOptions } from '../serve.ts';

/** The server under test, as cases see it. */
export interface Subject extends Required<ConformanceOptions> {
  /** Speaks to the instance that all cases share: it has other cases' animals too. */
  readonly client: Client;
  /** Starts an instance for the running case alone; it is closed when the case ends. */
  start(options?: ServeOptions): Promise<Client>;
  /** An instance for the cases of the surrounding `describe`. */
  own(prepare?: (client: Client) => Promise<void>, options?: ServeOptions): { readonly client: Client };
  readonly serve: Serve;
}

export function subject(serve: Serve, { unknownMethods = [] }: ConformanceOptions = {}): Subject {
  function own(prepare?: (client: Client) => Promise<void>, options?: ServeOptions) {
    let client: Client | undefined;
    let close: (() => Promise<void>) | undefined;
    beforeAll(async () => {
      const served = await serve(options);
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
    async start(options) {
      const served = await serve(options);
      onTestFinished(() => served.close());
      return connect(served);
    },
    own,
    serve,
    unknownMethods,
  };
}
