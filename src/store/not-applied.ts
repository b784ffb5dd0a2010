import { NotAppliedError } from '../types/errors.ts';

/** The answer of a call, made of that of its transaction, also where the wait for it was cut short (M4). */
export async function shaped<T, R>(answer: Promise<T>, action: string, shape: (told: T) => R): Promise<R> {
  try {
    return shape(await answer);
  } catch (error) {
    if (!(error instanceof NotAppliedError)) throw error;
    const result = shape(error.result as T);
    throw new NotAppliedError(action, { revision: error.revision, result }, { cause: error.cause });
  }
}
