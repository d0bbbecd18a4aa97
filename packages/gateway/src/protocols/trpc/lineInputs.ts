import type { PlainInputs } from './plainInputs.ts';

/**
 * The inputs of a batch, as many turns after they are asked for as in `resolveResponse` (@trpc/server 11.25): which
 * call ends first shows in the order of the lines.
 */
export class LineInputs {
  readonly #inputs: PlainInputs;
  readonly #isBody: boolean;
  #reading: Promise<void> | undefined = undefined;
  #isRead = false;

  constructor(inputs: PlainInputs, isBody: boolean) {
    this.#inputs = inputs;
    this.#isBody = isBody;
  }

  async input(index: number): Promise<unknown> {
    await this.#readAll();
    return this.#inputs.read(index);
  }

  /** What was read so far. */
  known(index: number): unknown {
    return this.#isRead ? this.#inputs.known(index) : undefined;
  }

  async #readAll(): Promise<void> {
    if (this.#isRead) return;
    this.#reading ??= this.#read().catch(rethrow);
    await this.#reading;
    this.#isRead = true;
  }

  async #read(): Promise<void> {
    // A body is read through a stream: what needs none has come to its end meanwhile. Not a tick from here on: it would
    // come before all promises where this is still the host's own turn.
    if (this.#isBody) await Promise.resolve().then(tick);
    this.#inputs.read(0);
  }
}

const tick = () => new Promise<void>((resolve) => process.nextTick(resolve));

const rethrow = (cause: unknown) => {
  throw cause;
};
