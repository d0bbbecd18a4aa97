import type { SimulatedProcess } from '../simulatedProcess.ts';
import { type DiskFaults, later, systemError } from './diskFaults.ts';
import { type Content, Draft } from './rows.ts';

/** How often a commit can be read only some time after the file was written, and how long at most, in milliseconds. */
const lagProbability = 0.25;
const lagMs = 5;

/** A process's handle of an LMDB file. */
export interface Writer {
  readonly process: SimulatedProcess;
  readonly noSync: boolean;
  /** The content that it sees and changes while its transaction runs. */
  draft: Draft | undefined;
  /** Whether LMDB rejects its transactions (MDB_PANIC) until it opens the file again. */
  isPanicked: boolean;
  readonly resetReadTxn: () => void;
}

interface Transaction {
  readonly writer: Writer;
  readonly run: () => unknown;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** A transaction that has run, and holds the lock of the writers until its commit has ended. */
interface Commit {
  readonly transaction: Transaction;
  readonly draft: Draft;
  readonly result: unknown;
  isWritten: boolean;
  error: Error | undefined;
}

/** The content of an LMDB file, and the transactions of all processes on it: one at a time. */
export class LmdbContent {
  /** What processes that begin to read see. */
  visible: Content = new Map();
  committed = this.visible;
  #synced = this.visible;
  #waiting: Transaction[] = [];
  #isBeginning = false;
  #commit: Commit | undefined = undefined;
  readonly #faults: DiskFaults;
  readonly #onWritten: (isSynced: boolean) => void;

  /** @param onWritten called at each commit, before all processes see it */
  constructor(faults: DiskFaults, onWritten: (isSynced: boolean) => void) {
    this.#faults = faults;
    this.#onWritten = onWritten;
  }

  /** Replaces the content, durably, as a copy over the file does. No process may have it open. */
  replace(content: Content): void {
    this.visible = this.committed = this.#synced = content;
  }

  /** Loses what was not synced. All processes of the machine are dead. */
  crash(): void {
    this.replace(this.#synced);
    this.#waiting = [];
    this.#commit = undefined;
  }

  /**
   * Runs a transaction in a later turn. The processes get the lock in random order, and each runs its own in the order of the calls.
   * Never settles if the process dies or LMDB cannot begin, as with lmdb 3.5.6.
   */
  transact(writer: Writer, run: () => unknown): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ writer, run, resolve, reject });
      this.#beginNext();
    });
  }

  /**
   * Runs a transaction at once. LMDB would block the process while another one commits: instead, that commit is written now, which
   * nobody can distinguish, and its promise settles when it would have.
   * @throws if LMDB would block until the disk is thawed, since virtual time cannot pass meanwhile
   */
  transactNow<T>(writer: Writer, run: (draft: Draft) => T): T {
    if (this.#faults.thawed && (this.#commit !== undefined || !writer.noSync))
      throw new Error(`The process ${writer.process.name} would be blocked until the disk is thawed.`);
    if (this.#commit?.transaction.writer.process.isAlive) this.#write(this.#commit);
    const { draft, result } = this.#run(writer, run);
    const error = this.#store(writer, draft);
    if (error) throw error;
    this.visible = this.committed;
    writer.resetReadTxn();
    return result;
  }

  #beginNext(): void {
    if (this.#isBeginning || this.#commit !== undefined || this.#waiting.length === 0) return;
    this.#isBeginning = true;
    later(0, () => {
      this.#isBeginning = false;
      this.#begin();
    });
  }

  #begin(): void {
    const transaction = this.#takeNext();
    if (transaction === undefined) return;
    const { reject, run, writer } = transaction;
    if (writer.process.isAlive && !writer.isPanicked) {
      try {
        const commit = { transaction, ...this.#run(writer, run), isWritten: false, error: undefined };
        this.#commit = commit;
        const isSlow = commit.draft.isChanged && !writer.noSync;
        later(isSlow ? this.#faults.random.from(0, this.#faults.commitMs) : 0, () => this.#end(commit));
      } catch (error) {
        reject(error);
      }
    }
    this.#beginNext();
  }

  #takeNext(): Transaction | undefined {
    if (this.#waiting.length === 0) return undefined;
    const { writer } = this.#faults.random.pick(this.#waiting);
    const index = this.#waiting.findIndex((each) => each.writer === writer);
    return this.#waiting.splice(index, 1)[0];
  }

  #run<T>(writer: Writer, run: (draft: Draft) => T): { readonly draft: Draft; readonly result: T } {
    if (writer.draft !== undefined) throw new Error('Transactions in transactions are not simulated.');
    // Also what a process that died just after it wrote a commit could not show any more: the next to get its lock does so.
    this.visible = this.committed;
    const draft = new Draft(this.committed);
    writer.draft = draft;
    try {
      return { draft, result: run(draft) };
    } finally {
      writer.draft = undefined;
    }
  }

  #end(commit: Commit): void {
    // The machine has crashed.
    if (commit !== this.#commit) return;
    const { thawed } = this.#faults;
    if (thawed) void thawed.then(() => this.#end(commit));
    else {
      if (commit.transaction.writer.process.isAlive) this.#write(commit);
      const { random } = this.#faults;
      if (commit.draft.isChanged && random.chance(lagProbability))
        later(random.from(1, lagMs), () => this.#finish(commit));
      else this.#finish(commit);
    }
  }

  #finish(commit: Commit): void {
    if (commit !== this.#commit) return;
    this.#commit = undefined;
    const { reject, resolve, writer } = commit.transaction;
    if (writer.process.isAlive) {
      this.visible = this.committed;
      writer.resetReadTxn();
      if (commit.error) reject(commitFailed(commit.error));
      else resolve(commit.result);
    }
    this.#beginNext();
  }

  #write(commit: Commit): void {
    if (commit.isWritten) return;
    commit.isWritten = true;
    commit.error = this.#store(commit.transaction.writer, commit.draft);
  }

  /** Returns the error of the commit: then nothing is stored. */
  #store(writer: Writer, draft: Draft): Error | undefined {
    if (!draft.isChanged) return undefined;
    const code = this.#faults.errorCode;
    if (code === 'ENOSPC') return systemError(28, 'No space left on device');
    if (code === 'EIO') {
      writer.isPanicked = this.#faults.random.chance(0.5);
      return systemError(5, 'Input/output error');
    }
    this.committed = draft.content;
    if (!writer.noSync) this.#synced = draft.content;
    this.#onWritten(!writer.noSync);
    return undefined;
  }
}

/** As lmdb 3.5.6 rejects a transaction: the cause is in a promise, which is an unhandled rejection unless it is read. */
const commitFailed = (cause: Error): Error =>
  Object.assign(new Error('Commit failed (see commitError for details)'), {
    commitError: Promise.reject(cause),
  });
