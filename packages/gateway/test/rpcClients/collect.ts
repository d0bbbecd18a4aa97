import { onTestFinished } from 'vitest';

/** What `subscribe` of a client takes, as far as this suite looks at it. */
interface Observer<Value> {
  readonly signal: AbortSignal;
  readonly onData: (value: Value) => void;
  readonly onError: (error: unknown) => void;
  readonly onStarted: () => void;
  readonly onStopped: () => void;
  readonly onComplete: () => void;
  readonly onConnectionStateChange: (state: { readonly state: string }) => void;
}

/** A subscription procedure, as a client has it. */
export interface Subscribable {
  readonly subscribe: (input: never) => AsyncIterable<unknown>;
}

type Input<Procedure extends Subscribable> = Parameters<Procedure['subscribe']>[0];
/** `subscribe` is overloaded: without callbacks it gives what can be iterated. */
type Output<Procedure extends Subscribable> =
  ReturnType<Procedure['subscribe']> extends AsyncIterable<infer Value> ? Value : never;

/** The other overload, with callbacks. */
type Subscribe<Value> = (input: unknown, observer: Partial<Observer<Value>>) => { unsubscribe(): void };

/** Everything that a subscription told its client. */
export interface Collected<Value> {
  readonly data: Value[];
  /** In order: `started`, `stopped`, `complete`, `error`, and the states of the connection. */
  readonly events: string[];
  /** The error that ended it. */
  error: unknown;
  /** Resolves when it is over: complete or failed. */
  readonly ended: Promise<void>;
  unsubscribe(): void;
}

/** Subscribes and writes down what comes. It is unsubscribed with the test at the latest. */
export function collect<Procedure extends Subscribable>(
  procedure: Procedure,
  input: Input<Procedure>,
  signal?: AbortSignal,
): Collected<Output<Procedure>> {
  // Types can be taken from the last overload only; the one that is called is another.
  const subscribe = procedure.subscribe as unknown as Subscribe<Output<Procedure>>;
  const ended = Promise.withResolvers<void>();
  const collected: Collected<Output<Procedure>> = {
    data: [],
    events: [],
    error: undefined,
    ended: ended.promise,
    unsubscribe: () => subscription.unsubscribe(),
  };
  const note = (event: string) => collected.events.push(event);
  const subscription = subscribe(input, {
    ...(signal && { signal }),
    onData: (value) => collected.data.push(value),
    onStarted: () => note('started'),
    onStopped: () => note('stopped'),
    onConnectionStateChange: ({ state }) => note(state),
    onComplete: () => {
      note('complete');
      ended.resolve();
    },
    onError: (error) => {
      collected.error = error;
      note('error');
      ended.resolve();
    },
  });
  onTestFinished(() => subscription.unsubscribe());
  return collected;
}
