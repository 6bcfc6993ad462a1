"""The bus: connection, provisioning, the delivery boundary, request-reply."""
