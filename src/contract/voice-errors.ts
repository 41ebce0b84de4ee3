import { invalidRequest, type ServiceError } from './core/error.ts';

/** Of a stored voice, by a model that has no way to speak with one. */
export function storedVoicesUnsupported(): ServiceError {
  return invalidRequest(
    "This model speaks with its own voice only: leave 'voice' out, or take a model that speaks with stored voices.",
    'voice',
    'unsupported_value',
  );
}
