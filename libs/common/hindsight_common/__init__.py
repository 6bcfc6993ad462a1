"""What the services of Hindsight share: the domain, the published events, the ports and their adapters."""
