import { invalidRequest, type ServiceError } from './core/error.ts';

/** Creates the error for a stored voice that is used with a model without support for stored voices. */
export function storedVoicesUnsupported(): ServiceError {
  return invalidRequest(
    "This model does not support stored voices. Omit 'voice' or use a model that supports them.",
    'voice',
    'unsupported_value',
  );
}
